------------------------------ MODULE JobTrace ------------------------------
(* Is each trace of a simulated job a behaviour of Job? Every line permits only the steps of Job that do    *)
(* what it says, and leave the job, its rows and its spans as it has them. TLC prints how far it comes.     *)
EXTENDS Job, Sequences, JobTraces

VARIABLES trace, line

Lines == Traces[trace]
At(i) == IF i <= Len(Lines) THEN Lines[i].at ELSE Lines[Len(Lines)].at

Seen(r) == <<r.status, r.fence, r.lease, r.nonce, r.why>>
IsShown(l) ==
  IF "rows" \notin DOMAIN l THEN UNCHANGED <<job, rows, spans>>
  ELSE /\ job' = l.job
       /\ DOMAIN rows' = DOMAIN rows \cup DOMAIN l.rows
       /\ \A id \in DOMAIN rows' :
            IF id \in DOMAIN l.rows THEN Seen(rows'[id]) = l.rows[id] ELSE rows'[id] = rows[id]
       /\ \A t \in spans' \ spans : \E part \in l.spans : part[1] < t /\ t <= part[2]
       /\ \A part \in l.spans : Between(job.times, part[1], part[2]) \subseteq spans'

\* A line shows the job after a change, not what the change was.
ChangesTo(l) ==
  LET at == IF l.job.version # job.version THEN l.job.since
            ELSE Max(l.job.unlocked, Max(l.job.dropped, l.at)) IN
  {Redefine(at, l.job.times, l.job.overlap, l.read), Drop(l.job.dropped, l.read),
   Pause(l.job.paused.since, l.job.paused.until, l.read), Resume(l.job.cursor, l.read)}

Decides(l) == worker[l.by].id = l.id /\ Decide(l.by, l.clock, l.nonce, l.until)

Follows(l) ==
  CASE l.kind = "add"         -> Ask(Add(l.job.since, l.job.times, l.job.overlap)) /\ UNCHANGED late
    [] l.kind = "change"      -> l.read <= job.cursor /\ (\E q \in ChangesTo(l) : Ask(q)) /\ UNCHANGED late
    [] l.kind = "retire"      -> Retire(l.id) /\ UNCHANGED late
    [] l.kind = "plan"        -> Plan(l.by, l.until, l.misses)
    [] l.kind = "schedule"    -> Put(l.by, l.id[2]) /\ planner[l.by].version = l.id[1] /\ UNCHANGED late
    [] l.kind = "move"        -> Move(l.by) /\ UNCHANGED late
    [] l.kind = "read"        -> Read(l.by, l.id)
    [] l.kind = "decide"      -> Decides(l) /\ UNCHANGED late
    [] l.kind = "decide late" -> Decides(l) /\ late' # late
    [] l.kind = "again"       ->
         \/ worker[l.by].phase = "unsure" /\ Repeat(l.by)
         \/ /\ UNCHANGED <<worker, planner, late>>
            /\ \E q \in late : Apply(q) /\ \E e \in q : "id" \in DOMAIN e /\ e.id = l.id
    [] l.kind = "heartbeat"   -> Heartbeat(l.by, l.until) /\ UNCHANGED late
    [] l.kind = "settle"      -> Settle(l.by, l.status) /\ UNCHANGED late

TraceInit ==
  /\ trace \in 1..Len(Traces) /\ line = 1 /\ now = At(1)
  /\ job = NoJob /\ rows = <<>> /\ spans = {} /\ late = {} /\ owed = {} /\ ran = {} /\ removed = {}
  /\ worker = [w \in Workers |-> Idle] /\ planner = [p \in Planners |-> Idle]

TraceNext ==
  /\ line <= Len(Lines) /\ line' = line + 1 /\ now' = At(line + 1)
  /\ Follows(Lines[line]) /\ IsShown(Lines[line])
  /\ UNCHANGED <<trace, removed>>

TraceSpec == TraceInit /\ [][TraceNext]_<<system, trace, line>>
StepsAreRight == [][AStepIsRight]_system
Reached == PrintT(<<"reached", trace, line>>)
=============================================================================
