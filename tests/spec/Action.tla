------------------------------- MODULE Action -------------------------------
(* The life of a one-shot action without keys. A write is a request under the name that it has in the table *)
(* of docs/protocol.md. DynamoDB checks its conditions and applies it in one step.                         *)
(*                                                                                                         *)
(* The faults: a message may come at any moment, twice or never; the answer of a write may be lost; a      *)
(* request without an answer may be applied at any later moment, several times; a worker may die, or stop  *)
(* past the end of its lease and go on; clocks differ by at most Skew.                                     *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Workers,   \* the workers
  Skew,      \* the most by which two clocks differ, `clock_skew`
  MaxLate    \* how many requests may lack an answer

VARIABLES
  now,       \* the true time
  offset,    \* what each worker's clock adds to it
  row,       \* the action's row
  worker,    \* what each worker knows
  late,      \* requests without an answer
  removed    \* the guards that a mutant leaves out

system == <<now, offset, row, worker, late, removed>>

None == -1
NoRow == [status |-> "none"]
Idle == [phase |-> "idle"]

----------------------------------------------------------------------------
(* The writes: under which conditions, and what they change. *)

Conditions ==
     "schedule"         :> {"ROW_IS_ABSENT"}
  @@ "claim"            :> {"IS_PENDING", "IS_DUE"}
  @@ "take over"        :> {"IS_PROCESSING", "FENCE_IS_MINE", "LEASE_HAS_ENDED"}
  @@ "heartbeat"        :> {"IS_PROCESSING", "FENCE_IS_MINE", "LEASE_IS_NOT_LATER"}
  @@ "settle"           :> {"IS_PROCESSING", "FENCE_IS_MINE"}
  @@ "settle by commit" :> {"IS_PROCESSING", "FENCE_IS_MINE"}
  @@ "settle for retry" :> {"IS_PROCESSING", "FENCE_IS_MINE", "NO_CANCEL_WAS_ASKED_FOR"}
  @@ "cancel"           :> {"IS_PENDING", "GEN_IS_AS_READ"}
  @@ "ask to cancel"    :> {"IS_PROCESSING", "FENCE_IS_MINE"}
  @@ "reschedule"       :> {"IS_PENDING", "GEN_IS_AS_READ"}
  @@ "redrive"          :> {"IS_FAILED", "GEN_IS_AS_READ", "IS_NOT_DISMISSED"}
  @@ "dismiss"          :> {"IS_FAILED", "GEN_IS_AS_READ", "IS_NOT_DISMISSED"}

Holds(condition, q) ==
  CASE condition = "ROW_IS_ABSENT"           -> row = NoRow
    [] condition = "IS_PENDING"              -> row.status = "pending"
    [] condition = "IS_PROCESSING"           -> row.status = "processing"
    [] condition = "IS_FAILED"               -> row.status = "failed"
    [] condition = "IS_DUE"                  -> row.due <= q.now
    [] condition = "FENCE_IS_MINE"           -> row.fence = q.fence
    [] condition = "GEN_IS_AS_READ"          -> row.gen = q.gen
    [] condition = "LEASE_HAS_ENDED"         -> row.lease # None /\ row.lease < q.ended_before
    [] condition = "LEASE_IS_NOT_LATER"      -> row.lease # None /\ row.lease <= q.until
    [] condition = "NO_CANCEL_WAS_ASKED_FOR" -> ~row.asked
    [] condition = "IS_NOT_DISMISSED"        -> row.dismissed = None \/ q.sees_dismissal

IsMet(q) ==
  /\ q.write = "schedule" \/ row # NoRow
  /\ \A c \in Conditions[q.write] : <<q.write, c>> \in removed \/ Holds(c, q)

Has(effect) == <<"effect", effect>> \notin removed
Step(effect) == IF Has(effect) THEN 1 ELSE 0
Released == [row EXCEPT !.lease = IF Has("LEASE_ENDS") THEN None ELSE @, !.nonce = None]

\* An onlooker's counts, which are not in the table: `run` counts claims, `ends` the settles of this
\* generation, `commits` the commits. `strays` is true after a write that a caller meant for another
\* generation, or a worker for another run.
After(q) ==
  CASE q.write = "schedule" ->
         [status |-> "pending", due |-> q.due, gen |-> 1, fence |-> 0, lease |-> None, nonce |-> None,
          asked |-> FALSE, dismissed |-> None, run |-> 0, ends |-> 0, commits |-> 0, strays |-> FALSE]
    [] q.write \in {"claim", "take over"} ->
         [row EXCEPT !.status = "processing", !.fence = @ + Step("NEXT_FENCE"), !.lease = q.until,
                     !.nonce = q.nonce, !.run = @ + 1]
    [] q.write = "heartbeat" -> [row EXCEPT !.lease = q.until]
    [] q.write = "settle" -> [Released EXCEPT !.status = q.status, !.ends = @ + 1, !.strays = q.run # row.run]
    [] q.write = "settle by commit" ->
         [Released EXCEPT !.status = "executed", !.ends = @ + 1, !.commits = @ + 1,
                          !.strays = q.run # row.run]
    [] q.write = "settle for retry" ->
         [Released EXCEPT !.status = "pending", !.due = q.due, !.gen = @ + Step("NEXT_GEN"),
                          !.ends = IF Has("NEXT_GEN") THEN 0 ELSE @ + 1, !.strays = q.run # row.run]
    [] q.write = "cancel" -> [row EXCEPT !.status = "cancelled", !.strays = q.gen # row.gen]
    [] q.write = "ask to cancel" -> [row EXCEPT !.asked = TRUE, !.strays = q.fence # row.fence]
    [] q.write = "reschedule" ->
         [row EXCEPT !.due = q.due, !.gen = @ + Step("NEXT_GEN"), !.strays = q.gen # row.gen]
    [] q.write = "redrive" ->
         [row EXCEPT !.status = "pending", !.due = q.due, !.gen = @ + Step("NEXT_GEN"), !.asked = FALSE,
                     !.dismissed = None, !.ends = IF Has("NEXT_GEN") THEN 0 ELSE @,
                     !.strays = q.gen # row.gen \/ (row.dismissed # None /\ ~q.sees_dismissal)]
    [] q.write = "dismiss" -> [row EXCEPT !.dismissed = q.reason, !.strays = q.gen # row.gen]

Apply(q) == row' = IF IsMet(q) THEN After(q) ELSE row

----------------------------------------------------------------------------
(* A worker. *)

Clock(w) == now + offset[w]
IsLive(w) == worker[w].phase = "running" /\ Clock(w) <= worker[w].until

Running(fence, run, until) == [phase |-> "running", fence |-> fence, run |-> run, until |-> until]

\* What a worker knows after the answer of a request, its first or a repeated one.
Answer(w, q) ==
  CASE q.write \in {"claim", "take over"} ->
         IF IsMet(q) THEN Running(After(q).fence, row.run + 1, q.until)
         ELSE IF row = NoRow \/ row.status # "processing" THEN Idle
         ELSE IF row.nonce = q.nonce THEN Running(row.fence, row.run, row.lease)
         ELSE IF q.write = "claim" /\ row.lease < Clock(w) - Skew
           THEN [phase |-> "sees a dead run", fence |-> row.fence]
         ELSE Idle
    [] q.write = "heartbeat" ->
         IF IsMet(q) THEN Running(q.fence, q.run, q.until)
         ELSE IF row.status = "processing" /\ row.fence = q.fence THEN Running(q.fence, q.run, row.lease)
         ELSE worker[w]  \* it stops its handler and settles, in vain
    [] OTHER ->  \* a settle
         IF ~IsMet(q) /\ row.status = "processing" /\ row.fence = q.fence
           THEN Running(q.fence, q.run, row.lease)  \* a cancel was asked for, or an entry was rejected
         ELSE Idle

Knows(w, what) == worker' = [worker EXCEPT ![w] = what]

\* The three fates of a request: the answer comes, or it is lost, or the request itself is late.
Send(w, q) ==
  \/ Apply(q) /\ Knows(w, Answer(w, q)) /\ UNCHANGED late
  \/ /\ Cardinality(late) < MaxLate
     /\ Apply(q) \/ UNCHANGED row
     /\ late' = late \cup {q}
     /\ Knows(w, IF q.write = "heartbeat" THEN worker[w] ELSE [phase |-> "unsure", request |-> q])

Nonces == {row.nonce} \cup {q.nonce : q \in {q \in late : q.write \in {"claim", "take over"}}}
NewNonce == IF Has("NEW_NONCE") THEN CHOOSE n \in 1..(Cardinality(late) + 2) : n \notin Nonces ELSE 1

Claim(w, nonce, until) ==  \* on a message, which may be old
  /\ worker[w] = Idle /\ row # NoRow
  /\ Send(w, [write |-> "claim", now |-> Clock(w), nonce |-> nonce, until |-> until])

TakeOver(w, nonce, until) ==
  /\ worker[w].phase = "sees a dead run"
  /\ Send(w, [write |-> "take over", fence |-> worker[w].fence, ended_before |-> Clock(w) - Skew,
              nonce |-> nonce, until |-> until])

OfRun(w, write) == [write |-> write, fence |-> worker[w].fence, run |-> worker[w].run]
IsRunning(w) == worker[w].phase = "running"

Heartbeat(w, until) == IsRunning(w) /\ Send(w, "until" :> until @@ OfRun(w, "heartbeat"))
Settle(w, status) == IsRunning(w) /\ Send(w, "status" :> status @@ OfRun(w, "settle"))
Commit(w) == IsRunning(w) /\ Send(w, OfRun(w, "settle by commit"))
Retry(w, due) == IsRunning(w) /\ Send(w, "due" :> due @@ OfRun(w, "settle for retry"))

\* The same request again: the client repeats it.
Repeat(w) ==
  /\ worker[w].phase = "unsure"
  /\ LET q == worker[w].request IN Apply(q) /\ Knows(w, Answer(w, q)) /\ UNCHANGED late

Stop(w) == worker[w] # Idle /\ Knows(w, Idle) /\ UNCHANGED <<row, late>>  \* it dies, or gives up

----------------------------------------------------------------------------
(* Callers, and late requests. *)

Ask(q) == UNCHANGED worker /\ Apply(q) /\ UNCHANGED late
AskInVain(q) == UNCHANGED <<worker, row>> /\ Cardinality(late) < MaxLate /\ late' = late \cup {q}

Late == UNCHANGED <<worker, late>> /\ \E q \in late : Apply(q)

----------------------------------------------------------------------------
(* The promises. *)

OneLiveLease == \A v, w \in Workers : IsLive(v) /\ IsLive(w) => v = w
OneSettleOfAGeneration == row # NoRow => row.ends <= 1
OneCommit == row # NoRow => row.commits <= 1 /\ (row.commits = 1 => row.status = "executed")
NoWriteStrays == row # NoRow => ~row.strays
NoRunAfterARequestToCancel == row # NoRow => ~(row.asked /\ row.status = "pending")

Final == {"executed", "failed", "cancelled"}
NothingEarly == row.status = "pending" /\ row'.status = "processing" => row.due <= now + Skew
NothingVanishes == row # NoRow => row' # NoRow
DueStaysDuringARun == row.status = "processing" /\ row'.status = "processing" => row'.due = row.due
FinalIsFinal ==
  row.status \in Final /\ row' # row =>
    /\ row.status = "failed"
    /\ \/ row'.status = "pending" /\ row'.gen > row.gen
       \/ row.dismissed = None /\ row' = [row EXCEPT !.dismissed = row'.dismissed]

StatesAreRight == OneLiveLease /\ OneSettleOfAGeneration /\ OneCommit /\ NoWriteStrays
                  /\ NoRunAfterARequestToCancel
StepsAreRight == [][NothingEarly /\ NothingVanishes /\ DueStaysDuringARun /\ FinalIsFinal]_system
=============================================================================
