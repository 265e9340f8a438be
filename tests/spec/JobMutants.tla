----------------------------- MODULE JobMutants -----------------------------
(* The protocol of a job without one of its guards. TLC prints the first promise that a mutant breaks, then  *)
(* leaves that mutant. Action has the guards of a run's own writes, heartbeat and settle.                    *)
EXTENDS JobWorld

\* It takes four runs and three workers to need this one.
TooFar == {<<"claim: the lock, after waiting", {"I_WAIT"}>>}
OfWrites ==
  UNION {{<<write, any>> : any \in Conditions[write]} : write \in DOMAIN Conditions \ {"heartbeat", "settle"}}
    \ TooFar
OfEffects == {<<"effect", {e}>> : e \in
  {"ROWS_FIRST", "RETIRES", "COVERS", "SEARCHES", "LOSES_FENCE", "SINCE", "NEXT_VERSION", "ACCOUNTS",
   "NEW_VERSION", "HOLDS", "CURSOR_IS_NOW", "PAUSES", "RESUMES"}}

\* Another guard stands in for each of these, so both are left out.
StandIn ==
     <<"claim: its row", {"FENCE_IS_MINE"}>> :> <<"claim: its row", {"STATUS_IS_AS_READ"}>>
  @@ <<"take over: its row", {"FENCE_IS_MINE"}>> :> <<"take over: its row", {"LEASE_IS_AS_READ"}>>
  @@ <<"take over: its row", {"STATUS_IS_AS_READ"}>> :> <<"take over: its row", {"LEASE_IS_AS_READ"}>>
  @@ <<"claim: the dead one's row", {"FENCE_IS_MINE"}>> :> <<"claim: the dead one's row", {"LEASE_IS_AS_READ"}>>
  @@ <<"claim: the dead one's row", {"STATUS_IS_AS_READ"}>> :>
       <<"claim: the dead one's row", {"LEASE_IS_AS_READ"}>>
  @@ <<"claim: the lock", Place>> :> <<"wait in another's place", {"LOCK_IS_AS_READ"}>>
  @@ <<"settle: the unlock", {"LOCK_IS_MINE"}>> :> <<"effect", {"LOSES_FENCE"}>>

At(g) ==
  LET write == g[1] effect == CHOOSE e \in g[2] : TRUE IN
  CASE write = "add" -> Scenario(1, 0, 1, 1, "skip", {"add", "deploy"})
    [] write = "change" -> Scenario(1, 0, 1, 1, "skip", {"deploy", "deploy back"})
    [] write \in {"schedule", "move the cursor"} \/ effect \in {"ROWS_FIRST", "ACCOUNTS"} ->
         Scenario(2, 1, 2, 0, "allow", {"deploy"})
    [] effect = "NEXT_VERSION" -> Scenario(1, 0, 2, 0, "skip", {"deploy", "deploy back"})
    [] effect = "SINCE" -> Scenario(1, 1, 1, 0, "skip", {"deploy", "deploy by a slow clock"})
    [] effect = "COVERS" -> Scenario(1, 1, 2, 0, "allow", {"deploy by a slow clock"})
    [] write = "claim: the job unchanged" \/ effect = "RETIRES" -> Scenario(1, 1, 2, 0, "allow", {"deploy"})
    [] effect \in {"HOLDS", "CURSOR_IS_NOW"} -> Scenario(1, 1, 2, 0, "allow", {"back up"})
    [] effect = "PAUSES" -> Scenario(1, 1, 2, 0, "allow", {"pause"})
    [] effect = "RESUMES" -> Scenario(1, 0, 2, 0, "skip", {"pause", "resume"})
    [] write = "end pending: no more waiting" -> Scenario(0, 2, 3, 0, "queue_one", {})
    [] effect = "NEW_VERSION" -> Scenario(1, 0, 2, 0, "skip", {"back up", "deploy"})
    [] write = "claim: the first lock after allow" /\ effect = "REVISION_IS_AS_READ" ->
         Scenario(0, 2, 2, 0, "allow", {"forbid overlap", "deploy by a slow clock"})
    [] write = "claim: the first lock after allow" \/ effect \in {"SEARCHES", "SEARCH_IS_AS_READ"} ->
         Scenario(0, 2, 2, 1, "allow", {"forbid overlap"})
    [] effect = "REVISION_IS_AS_READ" -> Scenario(0, 2, 2, 0, "queue_one", {"deploy by a slow clock"})
    [] write = "claim: the lock, after waiting" -> Scenario(0, 2, 3, 0, "cancel_running", {})
    [] write = "claim: a dead one's lock" /\ g[2] # Place -> Scenario(0, 2, 3, 0, "skip", {})
    [] effect = "WAITING_IS_AS_READ" -> Scenario(0, 2, 3, 1, "queue_one", {})
    [] write = "wait in another's place" \/ g[2] = Place -> Scenario(0, 2, 2, 1, "queue_one", {})
    [] OTHER -> Scenario(0, 2, 2, 1, "skip", {})

MutantsInit ==
  \E g \in OfWrites \cup OfEffects :
    Start(At(g)) /\ removed = IF g \in DOMAIN StandIn THEN {g, StandIn[g]} ELSE {g}
MutantsSpec == MutantsInit /\ [][Next]_vars

Broken ==
  IF backup # NoBackup /\ backup' = NoBackup THEN {}
  ELSE {p \in
    {<<"NothingIsLost", NothingIsLost'>>, <<"NoHolderWaits", NoHolderWaits'>>,
     <<"NothingRunsTwice", NothingRunsTwice>>, <<"NothingBeginsAfterItsEnd", NothingBeginsAfterItsEnd>>,
     <<"NothingBeginsUnderAPause", NothingBeginsUnderAPause>>,
     <<"NoneBeginsBesideAHolder", NoneBeginsBesideAHolder>>, <<"RowsGoOn", RowsGoOn>>,
     <<"NoChangeIsUndone", NoChangeIsUndone>>, <<"PlaceIsKept", PlaceIsKept>>,
     <<"NoneWaitsThatHasRun", NoneWaitsThatHasRun>>} : ~p[2]}

ASSUME TLCSet(1, {})  \* the mutants that broke a promise
ASSUME PrintT(<<"guards", OfWrites \cup OfEffects>>)

NoneIsBroken ==
  /\ removed \notin TLCGet(1)
  /\ Broken = {} \/ (PrintT(<<"broken", removed, Broken>>) /\ TLCSet(1, TLCGet(1) \cup {removed}) /\ FALSE)
=============================================================================
