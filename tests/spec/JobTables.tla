------------------------------ MODULE JobTables -----------------------------
(* The tables of a recurring job, and the writes on them. A request is a set of writes, a transaction, under *)
(* the names that they have in docs/protocol.md. A row is named by its version and its nominal time.        *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Workers, Planners,
  Skew,      \* the most by which two clocks differ, `clock_skew`
  Grace,     \* how late a first run may begin, `job_grace`
  MaxLate    \* how many requests may lack an answer

VARIABLES
  now,       \* the true time
  job,       \* the job's state
  spans,     \* the nominal times that a span explains
  rows,      \* the rows of its runs
  worker,    \* what each worker knows
  planner,   \* what each planner knows
  late,      \* requests without an answer
  removed,   \* the guards that a mutant leaves out
  owed,      \* an onlooker's notes: the rows that ended versions owe,
  ran        \* and the nominal times of which a run has begun

notes == <<owed, ran>>
system == <<now, job, spans, rows, worker, planner, late, removed, notes>>

None == -1
NoId == <<0, 0>>
NoJob == [version |-> 0]
NoPause == [since |-> None, until |-> None]
NoRow == [status |-> "none", fence |-> 0, lease |-> None, nonce |-> None, why |-> ""]
Idle == [phase |-> "idle"]
Row(id) == IF id \in DOMAIN rows THEN rows[id] ELSE NoRow
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Between(times, start, end) == {t \in times : start < t /\ t <= end}
Of(version, times) == {<<version, t>> : t \in times}

----------------------------------------------------------------------------
(* The writes. Of each inner set, one condition must hold. *)

Lock == {"LOCK_IS_FREE", "LOCK_IS_MINE"}
Place == {"NO_RUN_WAITS", "I_WAIT"}
Conditions ==
     "schedule"                  :> {{"ROW_IS_ABSENT"}}
  @@ "skip"                      :> {{"IS_PENDING"}}
  @@ "heartbeat"                 :> {{"IS_PROCESSING"}, {"FENCE_IS_MINE"}, {"LEASE_IS_NOT_LATER"}}
  @@ "settle"                    :> {{"IS_PROCESSING"}, {"FENCE_IS_MINE"}}
  @@ "add"                       :> {{"ROW_IS_ABSENT"}}
  @@ "change"                    :> {{"REVISION_IS_AS_READ"}}
  @@ "move the cursor"           :> {{"REVISION_IS_AS_READ"}, {"CURSOR_IS_AS_READ"}}
  @@ "claim: its row"            :> {{"STATUS_IS_AS_READ"}, {"FENCE_IS_MINE"}}
  @@ "take over: its row"        :> {{"STATUS_IS_AS_READ"}, {"FENCE_IS_MINE"}, {"LEASE_IS_AS_READ"}}
  @@ "claim: the job unchanged"  :> {{"REVISION_IS_AS_READ"}}
  @@ "claim: the lock"           :> {{"REVISION_IS_AS_READ"}, Lock, Place}
  @@ "claim: the lock, after waiting"      :> {{"REVISION_IS_AS_READ"}, Lock, {"I_WAIT"}}
  @@ "claim: a dead one's lock"  :> {{"REVISION_IS_AS_READ"}, Lock \cup {"LOCK_IS_THE_DEAD_ONES"}, Place}
  @@ "claim: the first lock after allow" :> {{"REVISION_IS_AS_READ"}, Lock, Place}
  @@ "claim: the dead one's row" :> {{"STATUS_IS_AS_READ"}, {"FENCE_IS_MINE"}, {"LEASE_IS_AS_READ"}}
  @@ "settle: the unlock"        :> {{"LOCK_IS_MINE"}}
  @@ "end pending: no more waiting" :> {{"I_WAIT"}}
  @@ "wait in another's place"   :> {{"WAITING_IS_AS_READ"}, {"LOCK_IS_AS_READ"}, {"SEARCH_IS_AS_READ"}}

OfRows == {"schedule", "skip", "heartbeat", "settle", "claim: its row", "take over: its row",
           "claim: the dead one's row"}
Takes == {"claim: its row", "take over: its row"}

Holds(c, e) ==
  CASE c = "ROW_IS_ABSENT"         -> IF e.write = "add" THEN job = NoJob ELSE e.id \notin DOMAIN rows
    [] c = "IS_PENDING"            -> Row(e.id).status = "pending"
    [] c = "IS_PROCESSING"         -> Row(e.id).status = "processing"
    [] c = "FENCE_IS_MINE"         -> Row(e.id).fence = e.row.fence
    [] c = "STATUS_IS_AS_READ"     -> Row(e.id).status = e.row.status
    [] c = "LEASE_IS_AS_READ"      -> Row(e.id).lease = e.row.lease
    [] c = "LEASE_IS_NOT_LATER"    -> Row(e.id).lease <= e.until
    [] c = "REVISION_IS_AS_READ"   -> job.revision = e.revision
    [] c = "CURSOR_IS_AS_READ"     -> job.cursor = e.cursor
    [] c = "LOCK_IS_FREE"          -> job.running = NoId
    [] c = "LOCK_IS_MINE"          -> job.running = e.id
    [] c = "LOCK_IS_THE_DEAD_ONES" -> job.running = e.dead
    [] c = "NO_RUN_WAITS"          -> ~e.waits /\ job.waiting # e.id  \* or another one waits
    [] c = "I_WAIT"                -> e.waits /\ job.waiting = e.id
    [] c = "WAITING_IS_AS_READ"    -> job.waiting = e.waiting
    [] c = "LOCK_IS_AS_READ"       -> job.running = e.running
    [] c = "SEARCH_IS_AS_READ"     -> e.unlocked = None \/ job.unlocked = e.unlocked

IsMet(e) == \A any \in Conditions[e.write] : <<e.write, any>> \in removed \/ \E c \in any : Holds(c, e)
Has(effect) == <<"effect", {effect}>> \notin removed

\* Without the lock, or the place, a run settles or skips its row alone.
Optional == {"settle: the unlock", "end pending: no more waiting"}
Applied(q) == {e \in q : e.write \notin Optional \/ IsMet(e)}
AreMet(q) == \A e \in Applied(q) : IsMet(e)

RowAfter(e) ==
  LET row == Row(e.id) IN
  CASE e.write = "schedule"  -> [NoRow EXCEPT !.status = "pending"]
    [] e.write = "skip"      -> [row EXCEPT !.status = "skipped", !.why = e.why]
    [] e.write = "heartbeat" -> [row EXCEPT !.lease = e.until]
    [] e.write = "settle"    -> [row EXCEPT !.status = e.status, !.lease = None, !.nonce = None]
    [] e.write \in Takes     -> [row EXCEPT !.status = "processing", !.fence = @ + 1, !.lease = e.until,
                                            !.nonce = e.nonce]
    [] e.write = "claim: the dead one's row" ->
         IF Has("LOSES_FENCE") THEN [row EXCEPT !.fence = @ + 1, !.nonce = None] ELSE row

JobAfter(e) ==
  CASE e.write = "add"             -> e.new
    [] e.write = "change"          -> e.new @@ [revision |-> e.revision + 1] @@ job
    [] e.write = "move the cursor" -> [job EXCEPT !.cursor = e.until]
    [] e.write = "settle: the unlock"           -> [job EXCEPT !.running = NoId]
    [] e.write = "end pending: no more waiting" -> [job EXCEPT !.waiting = NoId]
    [] e.write = "wait in another's place"      -> [job EXCEPT !.waiting = e.id]
    [] e.write = "claim: the job unchanged"     -> job
    [] OTHER -> [job EXCEPT !.running = e.id, !.waiting = IF e.waits THEN NoId ELSE @,
                            !.unlocked = IF e.searched THEN None ELSE @]

Changes(q) ==
  LET ofRows == {e \in q : e.write \in OfRows}
      ofJob == q \ ofRows
      explaining == {e \in ofJob : "spans" \in DOMAIN e}
      begun == {e.id : e \in {e \in q : e.write = "claim: its row"}}
      ending == {e \in ofJob : e.write = "change" /\ e.new.version # job.version
                               /\ job.version \in DOMAIN e.new.ends} IN
  /\ rows' = [id \in DOMAIN rows \cup {e.id : e \in ofRows} |->
                IF \E e \in ofRows : e.id = id THEN RowAfter(CHOOSE e \in ofRows : e.id = id) ELSE rows[id]]
  /\ job' = IF ofJob = {} THEN job ELSE JobAfter(CHOOSE e \in ofJob : TRUE)
  /\ spans' = spans \cup UNION {e.spans : e \in explaining}
  /\ ran' = ran \cup {id[2] : id \in begun}
  /\ owed' = owed \cup UNION {Of(job.version, Between(job.times, job.since, e.new.ends[job.version])) :
                              e \in ending}

Apply(q) == IF AreMet(q) THEN Changes(Applied(q)) ELSE UNCHANGED <<job, rows, spans, notes>>

\* The three fates of a request: the answer comes, or it is lost, or the request itself is late.
IsLate(q) == Cardinality(late) < MaxLate /\ late' = late \cup {q}
           /\ (Apply(q) \/ UNCHANGED <<job, rows, spans, notes>>)
Late == UNCHANGED <<worker, planner, late>> /\ \E q \in late : Apply(q)
Ask(q) == UNCHANGED <<worker, planner>> /\ ((Apply(q) /\ UNCHANGED late) \/ IsLate(q))
=============================================================================
