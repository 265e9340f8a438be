------------------------------ MODULE JobWorld ------------------------------
(* What may happen to a job, in which bounds: planners, workers, operators and time take every order of steps. *)
EXTENDS Job

CONSTANTS
  Lease,     \* how long a claim or a heartbeat holds a row
  Scenarios  \* who is at work on how many nominal times, how many requests may be late, and what may happen

VARIABLES
  scenario,
  left,      \* what may still happen
  backup     \* the tables of a moment, for a restore
vars == <<system, scenario, left, backup>>

Overlapping == {"skip", "queue_one", "cancel_running"}
NoBackup == [now |-> None]
Last == scenario.last  \* a version may also have the nominal time after it
MaxTime == Last + (IF scenario.planners = 0 THEN 2 ELSE 1)

Planned == [id \in {<<1, t>> : t \in 1..Last} |-> [NoRow EXCEPT !.status = "pending"]]
TheJob(overlap) == (CHOOSE e \in Add(0, 1..Last, overlap) : TRUE).new

Start(s) ==
  /\ scenario = s
  /\ job = IF "add" \in s.may THEN NoJob
           ELSE [TheJob(s.overlap) EXCEPT !.cursor = IF s.planners = 0 THEN Last ELSE 0]
  /\ rows = IF s.planners = 0 THEN Planned ELSE <<>>
  /\ now = IF s.planners = 0 THEN Last ELSE 0
  /\ spans = {} /\ late = {} /\ owed = {} /\ ran = {}
  /\ worker = [w \in Workers |-> Idle] /\ planner = [p \in Planners |-> Idle]
  /\ left = s.may /\ backup = NoBackup
Init == \E s \in Scenarios : Start(s) /\ removed = {}

Spend(event) == event \in left /\ left' = left \ {event}
Quietly == UNCHANGED <<scenario, left, backup>>

Tick ==
  /\ now < MaxTime /\ now' = now + 1
  /\ UNCHANGED <<job, rows, spans, worker, planner, late, notes>> /\ Quietly

PlannerActs(p) ==
  \/ /\ Cardinality({x \in Planners : planner[x] # Idle}) < scenario.planners
     /\ IF job # NoJob /\ job.cursor < now - Grace THEN Plan(p, now - Grace, TRUE)
        ELSE Plan(p, Min(now + 1, Last), FALSE)
  \/ \E t \in 1..(Last + 1) : Put(p, t)
  \/ Move(p)
  \/ planner[p] # Idle /\ planner' = [planner EXCEPT ![p] = Idle] /\ UNCHANGED <<job, rows, spans, worker, late, notes>>

NewNonce ==
  CHOOSE n \in 1..9 : /\ \A id \in DOMAIN rows : rows[id].nonce # n
                      /\ \A q \in late : \A e \in Taken(q) : e.nonce # n

WorkerActs(w) ==
  \/ Cardinality({x \in Workers : worker[x] # Idle}) < scenario.workers /\ \E id \in DOMAIN rows : Read(w, id)
  \/ Decide(w, now, NewNonce, now + Lease)
  \/ Repeat(w)
  \/ Heartbeat(w, now + Lease)
  \/ Settle(w, "executed")
  \/ worker[w].phase \in {"reads", "unsure"} /\ Knows(w, Idle) /\ UNCHANGED <<job, rows, spans, late, notes>>
Dies(w) == worker[w].phase = "running" /\ Knows(w, Idle) /\ UNCHANGED <<job, rows, spans, late, notes>>

OtherTimes == IF Last + 1 \in job.times THEN 1..Last ELSE 1..(Last + 1)
Request(event) ==
  CASE event = "add" -> Add(now, 1..Last, scenario.overlap)
    [] event \in {"deploy", "deploy back"} -> Redefine(now, OtherTimes, job.overlap, job.cursor)
    [] event = "deploy by a slow clock" -> Redefine(now - 1, OtherTimes, job.overlap, job.cursor)
    [] event = "forbid overlap" -> Redefine(now, job.times, "queue_one", job.cursor)
    [] event = "drop" -> Drop(now, job.cursor)
    [] event = "pause" -> Pause(now, None, job.cursor)
    [] event = "resume" -> Resume(now, job.cursor)
Events == {"add", "deploy", "deploy back", "deploy by a slow clock", "forbid overlap", "drop", "pause", "resume"}
IsPossible(event) ==
  IF event = "add" THEN job = NoJob \/ late # {}
  ELSE job # NoJob /\ (event \in {"drop", "pause"} => job.dropped = None)
       /\ (event = "pause" => job.paused = NoPause) /\ (event = "resume" => job.paused # NoPause)

Next ==
  /\ UNCHANGED removed
  /\ \/ Tick
     \/ /\ UNCHANGED now
        /\ \/ \E p \in Planners : PlannerActs(p) /\ Quietly
           \/ \E w \in Workers : WorkerActs(w) /\ Quietly
           \/ \E w \in Workers : Dies(w) /\ Spend("death") /\ UNCHANGED <<scenario, backup>>
           \/ \E event \in left \cap Events :
                /\ IsPossible(event) /\ Ask(Request(event)) /\ UNCHANGED <<scenario, backup>>
                /\ Spend(event) \/ (late' # late /\ UNCHANGED left)
           \/ job # NoJob /\ \E id \in DOMAIN rows : Retire(id) /\ Quietly
           \/ Late /\ Quietly
           \/ /\ Spend("back up") /\ backup' = [now |-> now, job |-> job, rows |-> rows, spans |-> spans,
                                                  owed |-> owed]
              /\ UNCHANGED <<job, rows, spans, worker, planner, late, notes, scenario>>
           \/ /\ backup # NoBackup /\ backup' = NoBackup /\ UNCHANGED <<scenario, left>>
              /\ \E tables \in {{"actions"}, {"jobs"}, {"actions", "jobs"}} : Restore(tables, backup)
  /\ late' = late \/ Cardinality(late') <= scenario.lates

Scenario(planners, workers, last, lates, overlap, may) ==
  [planners |-> planners, workers |-> workers, last |-> last, lates |-> lates, overlap |-> overlap, may |-> may]
AllScenarios ==
  {Scenario(2, 0, 2, 0, "skip", {"deploy"}), Scenario(1, 0, 1, 1, "skip", {"add", "deploy"}),
   Scenario(1, 0, 2, 0, "skip", {"deploy", "deploy back"}), Scenario(1, 1, 2, 0, "allow", {"deploy"}),
   Scenario(1, 1, 1, 0, "skip", {"deploy", "deploy by a slow clock"}),
   Scenario(1, 1, 2, 0, "allow", {"drop", "deploy"}), Scenario(1, 1, 2, 0, "allow", {"back up"}),
   Scenario(1, 0, 2, 0, "skip", {"back up", "deploy"}),
   Scenario(0, 2, 2, 0, "skip", {"death"}), Scenario(0, 2, 2, 1, "queue_one", {}),
   Scenario(0, 2, 3, 0, "queue_one", {}), Scenario(0, 2, 3, 0, "cancel_running", {}),
   Scenario(0, 2, 2, 0, "allow", {"forbid overlap"}),
   Scenario(1, 1, 2, 0, "allow", {"pause", "resume"}), Scenario(1, 0, 2, 1, "skip", {"pause", "resume"})}

----------------------------------------------------------------------------
Symmetry == Permutations(Workers) \cup Permutations(Planners)
Spec == Init /\ [][Next]_vars
StepsAreRight == [][AStepIsRight \/ (backup # NoBackup /\ backup' = NoBackup)]_system
=============================================================================
