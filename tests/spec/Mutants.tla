------------------------------ MODULE Mutants -------------------------------
(* The protocol without one of its guards. TLC prints the first promise that each mutant breaks, then leaves *)
(* that mutant. A mutant of which it prints nothing keeps all promises.                                      *)
EXTENDS Action

OfWrites == UNION {{<<write, c>> : c \in Conditions[write]} : write \in DOMAIN Conditions}
OfEffects == {<<"effect", e>> : e \in {"NEXT_FENCE", "NEW_NONCE", "LEASE_ENDS", "NEXT_GEN"}}

\* Another guard stands in for each of these, so both are left out.
StandIn ==
     <<"take over", "IS_PROCESSING">> :> <<"effect", "LEASE_ENDS">>
  @@ <<"heartbeat", "IS_PROCESSING">> :> <<"effect", "LEASE_ENDS">>
  @@ <<"effect", "LEASE_ENDS">>       :> <<"take over", "IS_PROCESSING">>
  @@ <<"take over", "FENCE_IS_MINE">> :> <<"take over", "LEASE_HAS_ENDED">>

Mutants == {IF g \in DOMAIN StandIn THEN {g, StandIn[g]} ELSE {g} : g \in OfWrites \cup OfEffects}

Promises ==
  {"OneLiveLease", "OneSettleOfAGeneration", "OneCommit", "NoWriteStrays", "NoRunAfterARequestToCancel",
   "NothingEarly", "NothingVanishes", "DueStaysDuringARun", "FinalIsFinal"}

IsKept(promise) ==
  CASE promise = "OneLiveLease" -> OneLiveLease'
    [] promise = "OneSettleOfAGeneration" -> OneSettleOfAGeneration'
    [] promise = "OneCommit" -> OneCommit'
    [] promise = "NoWriteStrays" -> NoWriteStrays'
    [] promise = "NoRunAfterARequestToCancel" -> NoRunAfterARequestToCancel'
    [] promise = "NothingEarly" -> NothingEarly
    [] promise = "NothingVanishes" -> NothingVanishes
    [] promise = "DueStaysDuringARun" -> DueStaysDuringARun
    [] promise = "FinalIsFinal" -> FinalIsFinal

ASSUME TLCSet(1, {})  \* the mutants that broke a promise
ASSUME PrintT(<<"mutants", Mutants>>)

NoneIsBroken ==
  /\ removed \notin TLCGet(1)
  /\ LET broken == {p \in Promises : ~IsKept(p)} IN
       broken = {} \/ (PrintT(<<"broken", removed, broken>>) /\ TLCSet(1, TLCGet(1) \cup {removed}) /\ FALSE)
=============================================================================
