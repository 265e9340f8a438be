---------------------------- MODULE BatchMutants -----------------------------
(* A batch without one of its guards. TLC prints the first promise that a mutant breaks.                   *)
EXTENDS Batch

\* Either count after a redrive finds what the other one would.
StandIn == "COUNTED_AGAIN_AFTER" :> {"COUNTED_AGAIN_AFTER", "COUNTED_ONCE_MORE"}

MutantsInit ==
  /\ Start
  /\ \E g \in Guards : removed = IF g \in DOMAIN StandIn THEN StandIn[g] ELSE {g}
MutantsSpec == MutantsInit /\ [][Next]_vars

Promises == {"ReleasedOnce", "ReleasedInTime", "ExactAtRest"}
IsKept(promise) ==
  CASE promise = "ReleasedOnce" -> ReleasedOnce'
    [] promise = "ReleasedInTime" -> ReleasedInTime'
    [] promise = "ExactAtRest" -> ExactAtRest'

ASSUME TLCSet(1, {})  \* the mutants that broke a promise
ASSUME PrintT(<<"guards", Guards>>)

NoneIsBroken ==
  /\ removed \notin TLCGet(1)
  /\ LET broken == {p \in Promises : ~IsKept(p)} IN
       broken = {} \/ (PrintT(<<"broken", removed, broken>>) /\ TLCSet(1, TLCGet(1) \cup {removed}) /\ FALSE)
=============================================================================
