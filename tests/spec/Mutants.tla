------------------------------ MODULE Mutants -------------------------------
(* The protocol without one of its guards. TLC prints the first promise that a mutant breaks, then leaves   *)
(* that mutant. A mutant of which it prints nothing keeps all promises.                                     *)
EXTENDS World

OfWrites == UNION {{<<write, c>> : c \in Conditions[write]} : write \in DOMAIN Conditions}
OfEffects == {<<"effect", e>> : e \in
  {"NEXT_FENCE", "NEW_NONCE", "LEASE_ENDS", "NEXT_GENERATION", "EXPIRY_ENDS", "READS_EXPIRY", "ENDS_EXPIRED",
   "DUE_UNDER_IT", "NOT_BEGUN"}}

\* Another guard stands in for each of these, so both are left out.
StandIn ==
     <<"take over", "IS_PROCESSING">> :> <<"effect", "LEASE_ENDS">>
  @@ <<"heartbeat", "IS_PROCESSING">> :> <<"effect", "LEASE_ENDS">>
  @@ <<"effect", "LEASE_ENDS">>       :> <<"take over", "IS_PROCESSING">>
  @@ <<"take over", "FENCE_IS_MINE">> :> <<"take over", "LEASE_HAS_ENDED">>
  @@ <<"hand over", "IS_PROCESSING">> :> <<"hand over", "NOT_HANDED_OVER">>
  @@ [g \in ByToken \X {"IS_PROCESSING"} |-> <<"effect", "LEASE_ENDS">>]

\* For each guard, what may happen besides a schedule; and whether it takes time.
Scenario(g) ==
  CASE g = <<"settle for retry", "NO_CANCEL_WAS_REQUESTED">> -> {"retry", "ask to cancel"}
    [] g = <<"claim", "IS_DUE">> -> {"reschedule"}
    [] g = <<"claim", "IS_NOT_EXPIRED">> -> {"expiry"}
    [] g = <<"claim", "GENERATION_IS_AS_READ">> -> {"type's expiry", "reschedule", "to the past"}
    [] g = <<"effect", "READS_EXPIRY">> -> {"type's expiry"}
    [] g = <<"effect", "ENDS_EXPIRED">> -> {"type's expiry", "fails on expiry"}
    [] g = <<"effect", "DUE_UNDER_IT">> -> {"pause"}
    [] g = <<"effect", "NOT_BEGUN">> -> {"pause", "retry"}
    [] g = <<"effect", "NEXT_GENERATION">> -> {"retry"}
    [] g[2] = "NOT_HANDED_OVER" -> {"hands over", "heartbeat by token"}
    [] g[1] = "hand over" -> {"hands over", "settle by token"}
    [] g[1] = "heartbeat by token" -> {"hands over", "heartbeat by token", "settle by token"}
    [] g[1] = "settle by token" -> {"hands over", "settle by token"}
    [] g[1] = "settle for retry by token" ->
         {"hands over", "settle for retry by token",
          IF g[2] = "NO_CANCEL_WAS_REQUESTED" THEN "ask to cancel" ELSE "cancel"}
    [] g[1] = "skip" \/ g = <<"effect", "EXPIRY_ENDS">> -> {"expiry", "reschedule"}
    [] g[1] = "settle for retry" -> {"retry", "cancel"}
    [] g[1] = "cancel" -> {"cancel", "reschedule"}
    [] g[1] = "ask to cancel" -> {"ask to cancel", "retry"}
    [] g[1] = "dismiss" \/ g = <<"redrive", "IS_NOT_DISMISSED">> -> {"dismiss", "redrive"}
    [] OTHER -> {g[1]} \cap DOMAIN Conditions \cap {"reschedule", "redrive"}
TakesTime(g) ==
  g[1] \in {"take over", "heartbeat", "hand over", "settle", "settle by commit", "settle for retry", "effect"}
           \cup ByToken

MutantsInit ==
  /\ Start
  /\ \E g \in OfWrites \cup OfEffects :
       /\ removed = IF g \in DOMAIN StandIn THEN {g, StandIn[g]} ELSE {g}
       /\ left = {"schedule"} \cup Scenario(g)
       /\ now = IF TakesTime(g) THEN 0 ELSE MaxTime
  /\ TypeAndPause
MutantsSpec == MutantsInit /\ [][Next]_vars

Promises ==
  {"OneLiveLease", "OneSettleOfAGeneration", "OneCommit", "NoWriteStrays", "NoRunAfterARequestToCancel",
   "NoRunBeginsExpired", "NothingEarly", "OnlyWhatHasExpiredOrIsPausedIsSkipped", "NoCallersDueTimeHasExpired",
   "NothingVanishes", "DueStaysDuringARun", "WhatIsHandedOverStaysSo", "FinalIsFinal"}

IsKept(promise) ==
  CASE promise = "OneLiveLease" -> OneLiveLease'
    [] promise = "OneSettleOfAGeneration" -> OneSettleOfAGeneration'
    [] promise = "OneCommit" -> OneCommit'
    [] promise = "NoWriteStrays" -> NoWriteStrays'
    [] promise = "NoRunAfterARequestToCancel" -> NoRunAfterARequestToCancel'
    [] promise = "NoRunBeginsExpired" -> NoRunBeginsExpired'
    [] promise = "NothingEarly" -> NothingEarly
    [] promise = "OnlyWhatHasExpiredOrIsPausedIsSkipped" -> OnlyWhatHasExpiredOrIsPausedIsSkipped
    [] promise = "NoCallersDueTimeHasExpired" -> NoCallersDueTimeHasExpired
    [] promise = "NothingVanishes" -> NothingVanishes
    [] promise = "DueStaysDuringARun" -> DueStaysDuringARun
    [] promise = "WhatIsHandedOverStaysSo" -> WhatIsHandedOverStaysSo
    [] promise = "FinalIsFinal" -> FinalIsFinal

ASSUME TLCSet(1, {})  \* the mutants that broke a promise
ASSUME PrintT(<<"guards", OfWrites \cup OfEffects>>)

NoneIsBroken ==
  /\ removed \notin TLCGet(1)
  /\ LET broken == {p \in Promises : ~IsKept(p)} IN
       broken = {} \/ (PrintT(<<"broken", removed, broken>>) /\ TLCSet(1, TLCGet(1) \cup {removed}) /\ FALSE)
=============================================================================
