--------------------------------- MODULE Job ---------------------------------
(* A recurring job: planning, versions, pauses, the lock and restores.                                      *)
(*                                                                                                          *)
(* The faults: a planner or a worker may come at any moment, and stop between any two requests; the answer  *)
(* of a request may be lost; a request without an answer may be applied at any later moment, several times; *)
(* a run may go on past the end of its lease; the tables may be restored.                                   *)
EXTENDS JobTables

----------------------------------------------------------------------------
(* A planner: rows first, then the cursor. *)

Plan(p, until, misses) ==  \* it has read the job
  /\ planner[p] = Idle /\ job # NoJob /\ job.dropped = None /\ job.paused = NoPause /\ until > job.cursor
  /\ planner' = [planner EXCEPT ![p] =
       [phase |-> IF Has("ROWS_FIRST") THEN "puts" ELSE "moves", version |-> job.version, until |-> until,
        revision |-> job.revision, cursor |-> job.cursor,
        spans |-> IF misses THEN Between(job.times, job.cursor, until) ELSE {},
        times |-> IF misses THEN {} ELSE Between(job.times, job.cursor, until)]]
  /\ UNCHANGED <<job, rows, spans, worker, late, notes>>

PlannerSends(p, q, next) ==  \* without an answer it stops
  \/ Apply(q) /\ UNCHANGED late /\ planner' = [planner EXCEPT ![p] = next]
  \/ IsLate(q) /\ planner' = [planner EXCEPT ![p] = Idle]

Put(p, t) ==
  LET plan == planner[p] rest == plan.times \ {t} IN
  /\ plan.phase = "puts" /\ t \in plan.times /\ now <= t + Grace /\ UNCHANGED worker
  /\ PlannerSends(p, {[write |-> "schedule", id |-> <<plan.version, t>>]},
                  IF rest = {} /\ ~Has("ROWS_FIRST") THEN Idle ELSE [plan EXCEPT !.times = rest])

Move(p) ==
  LET plan == planner[p] IN
  /\ plan.phase = "moves" \/ (plan.phase = "puts" /\ plan.times = {})
  /\ UNCHANGED worker
  /\ PlannerSends(p, {[write |-> "move the cursor", revision |-> plan.revision, cursor |-> plan.cursor,
                       until |-> plan.until, spans |-> plan.spans]},
                  IF plan.times = {} THEN Idle ELSE [plan EXCEPT !.phase = "puts"])

----------------------------------------------------------------------------
(* A worker: it reads the job, then the rows, and decides as `duetime.jobs.claim_policy` does. *)

EndOf(j, v) == IF v = j.version THEN j.dropped ELSE IF v \in DOMAIN j.ends THEN j.ends[v] ELSE j.since
IsPast(j, id) == EndOf(j, id[1]) # None /\ id[2] > EndOf(j, id[1])
IsCovered(j, id) ==
  \E v \in DOMAIN j.ends : v < id[1] /\ j.ends[v] < id[2] /\ Row(<<v, id[2]>>).fence > 0
HasEnded(row, at) == row.lease + Skew < at
IsDead(row, at) == row.status = "processing" /\ HasEnded(row, at)
IsLater(a, b) == a[2] > b[2] \/ (a[2] = b[2] /\ a[1] > b[1])

IsOver(j, at) == j.paused.until # None /\ j.paused.until <= at
IsPaused(j, id, at) == j.paused.since # None /\ id[2] > j.paused.since /\ ~IsOver(j, at)

Refusal(j, id, at) ==
  IF IsCovered(j, id) /\ Has("COVERS") THEN "covered"
  ELSE IF IsPast(j, id) /\ Has("RETIRES") THEN "retired"
  ELSE IF IsPaused(j, id, at) /\ Has("PAUSES") THEN "paused"
  ELSE IF at - id[2] > Grace /\ j.waiting # id THEN "missed"
  ELSE ""
SkipAlone(id, why) == {[write |-> "skip", id |-> id, why |-> why]}
Skip(id, why) ==
  SkipAlone(id, why) \cup {[write |-> "end pending: no more waiting", id |-> id, waits |-> TRUE]}

Beside(j, id, holder) ==  \* another run holds the lock
  LET others == j.waiting \notin {NoId, id} /\ Row(j.waiting).status = "pending"
      cancels == j.overlap = "cancel_running" IN
  IF \/ j.overlap = "skip"
     \/ others /\ (~cancels \/ IsLater(j.waiting, id))
     \/ cancels /\ IsLater(holder, id)
    THEN Skip(id, "overlap")
  ELSE IF j.waiting = id THEN {}
  ELSE {[write |-> "wait in another's place", id |-> id, waiting |-> j.waiting, running |-> j.running,
         unlocked |-> j.unlocked]}

Contend(j, id, at, nonce, until) ==
  LET isFirst == Row(id).status = "pending"
      searched == j.unlocked # None  \* also beside the lock that it has
      unlocked == IF ~searched \/ ~Has("SEARCHES") THEN {}
                  ELSE {x \in DOMAIN rows : rows[x].status = "processing"} \ {id, j.running}
      live == {x \in unlocked : ~HasEnded(rows[x], at)}
      holder == IF live = {} THEN j.running ELSE CHOOSE x \in live : \A y \in live : ~IsLater(y, x)
      isOthers == j.running \notin {NoId, id}
      dead == unlocked \cup (IF isOthers THEN {j.running} ELSE {})
      take == [write |-> IF isFirst THEN "claim: its row" ELSE "take over: its row", id |-> id,
               row |-> Row(id), nonce |-> nonce, until |-> until]
      lock == [write |-> CASE isOthers          -> "claim: a dead one's lock"
                           [] j.waiting = id    -> "claim: the lock, after waiting"
                           [] searched          -> "claim: the first lock after allow"
                           [] OTHER             -> "claim: the lock",
               id |-> id, revision |-> j.revision, dead |-> j.running, waits |-> j.waiting = id,
               searched |-> searched] IN
  IF j.overlap = "allow"
    THEN IF isFirst THEN {take, [write |-> "claim: the job unchanged", revision |-> j.revision]} ELSE {take}
  ELSE IF live # {} \/ (isOthers /\ ~IsDead(Row(j.running), at))
    THEN IF isFirst THEN Beside(j, id, holder) ELSE {}
  ELSE IF /\ j.overlap = "queue_one" /\ j.running = NoId /\ isFirst
          /\ j.waiting # id /\ Row(j.waiting).status = "pending"
    THEN {}
  ELSE {take, lock} \cup {[write |-> "claim: the dead one's row", id |-> x, row |-> Row(x)] : x \in dead}

Decision(j, id, at, nonce, until) ==
  CASE Row(id).status = "pending" /\ id[2] <= at ->
         IF Refusal(j, id, at) # "" THEN Skip(id, Refusal(j, id, at)) ELSE Contend(j, id, at, nonce, until)
    [] IsDead(Row(id), at) -> Contend(j, id, at, nonce, until)
    [] OTHER -> {}

Knows(w, what) == worker' = [worker EXCEPT ![w] = what] /\ UNCHANGED planner
Running(id, fence, until, locks) ==
  [phase |-> "running", id |-> id, fence |-> fence, until |-> until, locks |-> locks]
Taken(q) == {e \in q : e.write \in Takes}

\* What a worker knows after the answer of a claim, its first or a repeated one.
Answer(q) ==
  LET e == CHOOSE e \in q : e.write \in Takes
      locks == \E l \in q : "searched" \in DOMAIN l IN
  IF AreMet(q) THEN Running(e.id, e.row.fence + 1, e.until, locks)
  ELSE IF Row(e.id).status = "processing" /\ Row(e.id).nonce = e.nonce
    THEN Running(e.id, Row(e.id).fence, Row(e.id).lease, locks)
  ELSE Idle

Read(w, id) ==
  /\ worker[w] = Idle /\ Row(id).status \in {"pending", "processing"}
  /\ Knows(w, [phase |-> "reads", id |-> id, job |-> job]) /\ UNCHANGED <<job, rows, spans, late, notes>>

Decide(w, at, nonce, until) ==
  /\ worker[w].phase = "reads"
  /\ LET q == Decision(worker[w].job, worker[w].id, at, nonce, until) IN
       \/ Apply(q) /\ UNCHANGED late /\ Knows(w, IF Taken(q) = {} THEN Idle ELSE Answer(q))
       \/ q # {} /\ IsLate(q) /\ Knows(w, IF Taken(q) = {} THEN Idle ELSE [phase |-> "unsure", request |-> q])

Repeat(w) ==
  /\ worker[w].phase = "unsure"
  /\ Apply(worker[w].request) /\ UNCHANGED late /\ Knows(w, Answer(worker[w].request))

OfRun(w, write) == [write |-> write, id |-> worker[w].id, row |-> [fence |-> worker[w].fence]]

Heartbeat(w, until) ==
  /\ worker[w].phase = "running"
  /\ LET q == {"until" :> until @@ OfRun(w, "heartbeat")} IN
       \/ Apply(q) /\ UNCHANGED late /\ Knows(w, IF AreMet(q) THEN [worker[w] EXCEPT !.until = until] ELSE Idle)
       \/ IsLate(q) /\ UNCHANGED <<worker, planner>>

Settle(w, status) ==
  /\ worker[w].phase = "running" /\ Knows(w, Idle)
  /\ LET q == {"status" :> status @@ OfRun(w, "settle")}
              \cup (IF worker[w].locks THEN {[write |-> "settle: the unlock", id |-> worker[w].id]} ELSE {}) IN
       (Apply(q) /\ UNCHANGED late) \/ IsLate(q)

----------------------------------------------------------------------------
(* Deploys and operators. Each has read the job, perhaps with an older cursor. *)

TimeOfChange(at) == IF Has("SINCE") THEN Max(at, Max(job.since, job.dropped)) ELSE at

Add(at, times, overlap) ==
  {[write |-> "add", new |-> [version |-> 1, since |-> at, times |-> times, overlap |-> overlap, cursor |-> at,
     ends |-> <<>>, dropped |-> None, paused |-> NoPause, revision |-> 1, running |-> NoId, waiting |-> NoId,
     unlocked |-> None]]}

Change(new, explained) ==
  {[write |-> "change", revision |-> job.revision, spans |-> explained,
    new |-> new @@ [version |-> job.version]]}

\* The end of the pause, and the times that its spans explain: also those of versions that ended under it.
EndOfPause(at) == IF job.paused.until # None THEN Min(job.paused.until, at) ELSE at
Resumed(at) == [paused |-> NoPause, cursor |-> Max(EndOfPause(at), job.since)]
Unplanned(at, cursor) ==
  IF Has("RESUMES")
    THEN Between(job.times \cup {id[2] : id \in owed}, Min(cursor, job.paused.since), EndOfPause(at))
    ELSE {}

Redefine(at, times, overlap, cursor) ==
  LET start == TimeOfChange(at)
      end == IF job.dropped # None THEN job.dropped ELSE start
      isOver == IsOver(job, start)
      rest == IF isOver THEN Resumed(start) ELSE [paused |-> job.paused, cursor |-> cursor]
      explained == IF isOver THEN Unplanned(start, cursor) ELSE {}
      planned == IF rest.paused = NoPause THEN end ELSE Min(end, job.paused.since)
      policy == [overlap |-> overlap, unlocked |-> IF overlap = "allow" THEN None
                                                   ELSE IF job.overlap = "allow" THEN start ELSE job.unlocked] IN
  IF times = job.times /\ job.dropped = None THEN Change(policy @@ rest, explained)
  ELSE Change([version |-> IF Has("NEXT_VERSION") THEN job.version + 1 ELSE 3 - job.version, since |-> start,
               times |-> times, cursor |-> start, paused |-> rest.paused, dropped |-> None,
               ends |-> (job.version :> end) @@ job.ends] @@ policy,
              IF Has("ACCOUNTS")
                THEN explained \cup Between(job.times, rest.cursor, planned) \cup Between(job.times, end, start)
                ELSE explained)

Drop(at, cursor) == Change([dropped |-> TimeOfChange(at), cursor |-> cursor], {})
Pause(at, until, cursor) == Change([paused |-> [since |-> at, until |-> until], cursor |-> cursor], {})
Resume(at, cursor) == Change(Resumed(at), Unplanned(at, cursor))

Retire(id) == IsPast(job, id) /\ Row(id).status = "pending" /\ Ask(SkipAlone(id, "retired"))

\* The tables as of a moment before, adopted while the switch is off. A row that may have run is held.
Restore(tables, at) ==
  LET old == IF "jobs" \in tables THEN at.job ELSE job
      found == IF "actions" \in tables THEN at.rows ELSE rows
      newest == LET versions == {old.version} \cup {id[1] : id \in DOMAIN found} IN
                  CHOOSE v \in versions : \A other \in versions : other <= v
      start == Min(old.cursor, at.now - Grace - 1)
      isNewer == "jobs" \in tables /\ Has("NEW_VERSION")
      end == IF old.dropped # None THEN old.dropped ELSE now IN
  /\ rows' = [id \in DOMAIN found |->
                IF "actions" \in tables /\ Has("HOLDS")
                   /\ (found[id].status = "processing" \/ (found[id].status = "pending" /\ id[2] <= now))
                THEN [found[id] EXCEPT !.status = "held"] ELSE found[id]]
  /\ job' = [old EXCEPT !.revision = @ + 1, !.running = NoId, !.waiting = NoId,
                        !.cursor = IF Has("CURSOR_IS_NOW") THEN now ELSE @,
                        !.version = IF isNewer THEN newest + 1 ELSE @, !.since = IF isNewer THEN now ELSE @,
                        !.ends = IF isNewer THEN (old.version :> end) @@ @ ELSE @]
  /\ spans' = (IF "jobs" \in tables THEN at.spans ELSE spans) \cup {t \in 1..now : t > start}
  /\ worker' = [w \in Workers |-> Idle] /\ planner' = [p \in Planners |-> Idle] /\ late' = {} /\ UNCHANGED ran
  /\ owed' = (IF "jobs" \in tables THEN at.owed ELSE owed)
             \cup (IF isNewer THEN Of(old.version, Between(old.times, old.since, end)) ELSE {})
----------------------------------------------------------------------------
(* The promises. *)

IsLive(w) == worker[w].phase = "running" /\ now + Skew <= worker[w].until
AreLive(v, w) == v # w /\ IsLive(v) /\ IsLive(w)
Began(id) == id \in DOMAIN rows /\ rows[id].status = "pending" /\ rows'[id].status = "processing"

\* Each nominal time up to the cursor, or the end of its version, has a row that may run, or a span.
NothingIsLost ==
  job # NoJob =>
    \A id \in owed \cup Of(job.version, Between(job.times, job.since, job.cursor)) :
      \/ id[2] \in spans \/ (job.paused.since # None /\ id[2] > job.paused.since)
      \/ (id \in DOMAIN rows /\ (IsPast(job, id) \/ rows[id].why # "retired"))
NoHolderWaits == job # NoJob => job.waiting = NoId \/ job.waiting # job.running

NothingRunsTwice == \A id \in DOMAIN rows \cap DOMAIN rows' : Began(id) => id[2] \notin ran
NothingBeginsAfterItsEnd == \A id \in DOMAIN rows \cap DOMAIN rows' : Began(id) => ~IsPast(job, id)
NothingBeginsUnderAPause == \A id \in DOMAIN rows \cap DOMAIN rows' : Began(id) => ~IsPaused(job, id, now)
NoneBeginsBesideAHolder ==
  \A v, w \in Workers : AreLive(v, w)' /\ ~AreLive(v, w) /\ worker'[v].locks => job.overlap = "allow"
RowsGoOn ==
  \A id \in DOMAIN rows \cap DOMAIN rows' : rows'[id].status # rows[id].status =>
    \/ rows[id].status = "pending" /\ rows'[id].status \in {"processing", "skipped", "held"}
    \/ rows[id].status = "processing" /\ rows'[id].status \notin {"pending", "skipped"}
NoChangeIsUndone ==
  job # NoJob => \/ job'.revision = job.revision /\ job' = [job EXCEPT !.cursor = Max(@, job'.cursor),
                      !.running = job'.running, !.waiting = job'.waiting, !.unlocked = job'.unlocked]
                 \/ job'.revision = job.revision + 1
PlaceIsKept ==
  job # NoJob => \A id \in {job.waiting} \ {NoId, job'.waiting} :
    \/ Row(id)'.status # "pending"
    \/ job.overlap = "cancel_running" /\ IsLater(job'.waiting, id)
\* A late request finds the lock as read, too, if the holder was taken over meanwhile. That harms nothing.
NoneWaitsThatHasRun ==
  job # NoJob /\ job'.waiting \notin {NoId, job.waiting} =>
    Row(job'.waiting).status \in {"pending", "skipped"} \/ Row(job.running).fence > 1

StatesAreRight == NothingIsLost /\ NoHolderWaits
AStepIsRight ==
  /\ NothingRunsTwice /\ NothingBeginsAfterItsEnd /\ NothingBeginsUnderAPause /\ NoneBeginsBesideAHolder
  /\ RowsGoOn /\ NoChangeIsUndone /\ PlaceIsKept /\ NoneWaitsThatHasRun
==============================================================================
