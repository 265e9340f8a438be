-------------------------- MODULE CheckpointMutants --------------------------
(* A checkpoint without one of its guards. TLC prints the first promise that a mutant breaks.              *)
EXTENDS Checkpoint

MutantsInit == Start /\ \E g \in Guards : removed = {g}
MutantsSpec == MutantsInit /\ [][Next]_vars

Promises == {"NoneIsLost", "EachContinuationHasACheckpoint", "NeverBack", "NoneOfAFormerRun"}
IsKept(promise) ==
  CASE promise = "NoneIsLost" -> NoneIsLost'
    [] promise = "EachContinuationHasACheckpoint" -> EachContinuationHasACheckpoint'
    [] promise = "NeverBack" -> row'.checkpoint = row.checkpoint \/ IsAfter(row'.checkpoint, row.checkpoint)
    [] promise = "NoneOfAFormerRun" -> row'.checkpoint # row.checkpoint => row'.checkpoint.fence = row.fence

ASSUME TLCSet(1, {})  \* the mutants that broke a promise
ASSUME PrintT(<<"guards", Guards>>)

NoneIsBroken ==
  /\ removed \notin TLCGet(1)
  /\ LET broken == {p \in Promises : ~IsKept(p)} IN
       broken = {} \/ (PrintT(<<"broken", removed, broken>>) /\ TLCSet(1, TLCGet(1) \cup {removed}) /\ FALSE)
=============================================================================
