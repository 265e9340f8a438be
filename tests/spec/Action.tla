------------------------------- MODULE Action -------------------------------
(* The life of a one-shot action without keys and checkpoints. It may expire, by its own expiry or its     *)
(* type's, and a pause may skip it. A run may hand it over to a party, which has a token. A write is a     *)
(* request under the name that it has in the table of docs/protocol.md. DynamoDB checks its conditions and *)
(* applies it in one step.                                                                                 *)
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
  type,      \* its type: after how long its actions expire, and whether they fail then
  pause,     \* since when a pause skips what becomes due, and until when
  removed    \* the guards that a mutant leaves out

system == <<now, offset, row, worker, late, type, pause, removed>>

None == -1
Max(a, b) == IF a > b THEN a ELSE b
NoRow == [status |-> "none"]
Idle == [phase |-> "idle"]
NoPause == [since |-> None, end |-> None]

----------------------------------------------------------------------------
(* The writes: under which conditions, and what they change. *)

Conditions ==
     "schedule"         :> {"ROW_IS_ABSENT"}
  @@ "claim"            :> {"IS_PENDING", "GENERATION_IS_AS_READ", "IS_DUE", "IS_NOT_EXPIRED"}
  @@ "take over"        :> {"IS_PROCESSING", "FENCE_IS_MINE", "LEASE_HAS_ENDED"}
  @@ "heartbeat"        :> {"IS_PROCESSING", "FENCE_IS_MINE", "LEASE_IS_NOT_LATER", "NOT_HANDED_OVER"}
  @@ "hand over"        :> {"IS_PROCESSING", "FENCE_IS_MINE", "NOT_HANDED_OVER"}
  @@ "settle"           :> {"IS_PROCESSING", "FENCE_IS_MINE"}
  @@ "settle by commit" :> {"IS_PROCESSING", "FENCE_IS_MINE"}
  @@ "settle for retry" :> {"IS_PROCESSING", "FENCE_IS_MINE", "NO_CANCEL_WAS_REQUESTED"}
  @@ "cancel"           :> {"IS_PENDING", "GENERATION_IS_AS_READ"}
  @@ "ask to cancel"    :> {"IS_PROCESSING", "FENCE_IS_MINE"}
  @@ "reschedule"       :> {"IS_PENDING", "GENERATION_IS_AS_READ"}
  @@ "redrive"          :> {"IS_FAILED", "GENERATION_IS_AS_READ", "IS_NOT_DISMISSED"}
  @@ "dismiss"          :> {"IS_FAILED", "GENERATION_IS_AS_READ", "IS_NOT_DISMISSED"}
  @@ "skip"             :> {"IS_PENDING", "GENERATION_IS_AS_READ"}
  @@ "heartbeat by token" :>
       {"IS_PROCESSING", "FENCE_IS_MINE", "IS_HANDED_OVER", "HAND_OVER_LASTS", "LEASE_IS_NOT_LATER"}
  @@ "settle by token"  :> {"IS_PROCESSING", "FENCE_IS_MINE", "IS_HANDED_OVER", "HAND_OVER_LASTS"}
  @@ "settle for retry by token" :>
       {"IS_PROCESSING", "FENCE_IS_MINE", "NO_CANCEL_WAS_REQUESTED", "IS_HANDED_OVER", "HAND_OVER_LASTS"}

ByToken == {"heartbeat by token", "settle by token", "settle for retry by token"}

\* The table compares an action's own expiry; the worker computes its type's from the row that it has read.
HasOwnExpired(r, at) == r.expires # None /\ r.expires <= at
HasExpired(r, at) ==
  HasOwnExpired(r, at) \/ (r.expires = None /\ type.after # None /\ r.tried + type.after <= at)

ConditionsOf(q) ==
  IF q.write = "claim" /\ type.fails THEN Conditions["claim"] \ {"IS_NOT_EXPIRED"} ELSE Conditions[q.write]

Holds(condition, q) ==
  CASE condition = "ROW_IS_ABSENT"           -> row = NoRow
    [] condition = "IS_PENDING"              -> row.status = "pending"
    [] condition = "IS_PROCESSING"           -> row.status = "processing"
    [] condition = "IS_FAILED"               -> row.status = "failed"
    [] condition = "IS_DUE"                  -> row.due <= q.now
    [] condition = "IS_NOT_EXPIRED"          -> ~HasOwnExpired(row, q.now)
    [] condition = "FENCE_IS_MINE"           -> row.fence = q.fence
    [] condition = "GENERATION_IS_AS_READ"          -> row.generation = q.generation
    [] condition = "LEASE_HAS_ENDED"         -> row.lease # None /\ row.lease < q.ended_before
    [] condition = "LEASE_IS_NOT_LATER"      -> row.lease # None /\ row.lease <= q.until
    [] condition = "NO_CANCEL_WAS_REQUESTED" -> ~row.cancel_requested
    [] condition = "IS_NOT_DISMISSED"        -> row.dismissed = None \/ q.sees_dismissal
    [] condition = "NOT_HANDED_OVER"         -> row.handed < q.fence
    [] condition = "IS_HANDED_OVER"          -> row.handed = q.fence
    [] condition = "HAND_OVER_LASTS"         -> row.lease # None /\ row.lease > q.now

IsMet(q) ==
  /\ q.write = "schedule" \/ row # NoRow
  /\ \A c \in ConditionsOf(q) : <<q.write, c>> \in removed \/ Holds(c, q)

Has(effect) == <<"effect", effect>> \notin removed
Step(effect) == IF Has(effect) THEN 1 ELSE 0

\* Whether the handler of a claimed run begins: a run that has expired only fails.
Begins(q) == ~HasExpired(row, q.now) \/ ~Has("ENDS_EXPIRED")
Released == [row EXCEPT !.lease = IF Has("LEASE_ENDS") THEN None ELSE @, !.nonce = None]

\* The run of the row's fence has handed it over: its lease is that of the hand-over.
IsHandedOver(r) == r # NoRow /\ r.status = "processing" /\ r.handed = r.fence

\* Whether a write is meant for another run, or for one that a party does not have: not yet, or no more.
Strays(q) ==
  IF q.write \in ByToken THEN q.fence # row.fence \/ row.handed # row.fence \/ row.lease <= q.now
  ELSE q.run # row.run \/ (q.write = "heartbeat" /\ IsHandedOver(row))

\* An onlooker's counts, which are not in the table: `run` counts claims, `ends` the settles of this
\* generation, `commits` the commits. `strays` is true after a write that a caller meant for another
\* generation, or that strays. `expired` is true after a run began, or was claimed to be skipped, of an
\* action that had expired by the claimer's clock. `tries` counts the runs since the last redrive.
After(q) ==
  CASE q.write = "schedule" ->
         [status |-> "pending", due |-> q.due, tried |-> q.due, expires |-> q.expires, generation |-> 1, fence |-> 0,
          lease |-> None, nonce |-> None, cancel_requested |-> FALSE, dismissed |-> None, handed |-> None,
          run |-> 0, tries |-> 0, ends |-> 0, commits |-> 0, strays |-> FALSE, expired |-> FALSE]
    [] q.write \in {"claim", "take over"} ->
         [row EXCEPT !.status = "processing", !.fence = @ + Step("NEXT_FENCE"), !.lease = q.until,
                     !.nonce = q.nonce, !.run = @ + 1, !.tries = Max(@, 1),
                     !.expired = HasExpired(row, q.now) /\ (Begins(q) \/ (q.write = "claim" /\ ~type.fails))]
    [] q.write \in {"heartbeat", "heartbeat by token"} ->
         [row EXCEPT !.lease = q.until, !.strays = Strays(q)]
    [] q.write = "hand over" -> [row EXCEPT !.lease = q.until, !.handed = q.fence, !.strays = Strays(q)]
    [] q.write \in {"settle", "settle by token"} ->
         [Released EXCEPT !.status = q.status, !.ends = @ + 1, !.strays = Strays(q)]
    [] q.write = "settle by commit" ->
         [Released EXCEPT !.status = "executed", !.ends = @ + 1, !.commits = @ + 1, !.strays = Strays(q)]
    [] q.write \in {"settle for retry", "settle for retry by token"} ->
         [Released EXCEPT !.status = "pending", !.due = q.due, !.generation = @ + Step("NEXT_GENERATION"),
                          !.ends = IF Has("NEXT_GENERATION") THEN 0 ELSE @ + 1, !.strays = Strays(q)]
    [] q.write = "cancel" -> [row EXCEPT !.status = "cancelled", !.strays = q.generation # row.generation]
    [] q.write = "ask to cancel" -> [row EXCEPT !.cancel_requested = TRUE, !.strays = q.fence # row.fence]
    [] q.write = "reschedule" ->
         [row EXCEPT !.due = q.due, !.tried = q.due, !.expires = IF Has("EXPIRY_ENDS") THEN q.expires ELSE @,
                     !.generation = @ + Step("NEXT_GENERATION"), !.strays = q.generation # row.generation]
    [] q.write = "redrive" ->
         [row EXCEPT !.status = "pending", !.due = q.due, !.expires = IF Has("EXPIRY_ENDS") THEN None ELSE @,
                     !.tried = IF Has("EXPIRY_ENDS") THEN q.due ELSE @, !.tries = 0,
                     !.generation = @ + Step("NEXT_GENERATION"), !.cancel_requested = FALSE,
                     !.dismissed = None, !.ends = IF Has("NEXT_GENERATION") THEN 0 ELSE @,
                     !.strays = q.generation # row.generation \/ (row.dismissed # None /\ ~q.sees_dismissal)]
    [] q.write = "dismiss" -> [row EXCEPT !.dismissed = q.reason, !.strays = q.generation # row.generation]
    [] q.write = "skip" -> [row EXCEPT !.status = "skipped", !.strays = q.generation # row.generation]

Apply(q) == row' = IF IsMet(q) THEN After(q) ELSE row

----------------------------------------------------------------------------
(* A worker. *)

Clock(w) == now + offset[w]
IsLive(w) == worker[w].phase = "running" /\ Clock(w) <= worker[w].until

Running(fence, run, until, begins) ==
  [phase |-> "running", fence |-> fence, run |-> run, until |-> until, begins |-> begins]

\* What a worker knows after the answer of a request, its first or a repeated one.
Answer(w, q) ==
  CASE q.write \in {"claim", "take over"} ->
         IF IsMet(q) THEN Running(After(q).fence, row.run + 1, q.until, Begins(q))
         ELSE IF row = NoRow \/ row.status # "processing" THEN Idle
         ELSE IF row.nonce = q.nonce THEN Running(row.fence, row.run, row.lease, Begins(q))
         ELSE IF q.write = "claim" /\ row.lease < Clock(w) - Skew
           THEN [phase |-> "sees a dead run", fence |-> row.fence]
         ELSE Idle
    [] q.write = "heartbeat" ->
         IF IsMet(q) THEN Running(q.fence, q.run, q.until, q.begins)
         ELSE IF row.status = "processing" /\ row.fence = q.fence
           THEN Running(q.fence, q.run, row.lease, q.begins)
         ELSE worker[w]  \* it stops its handler and settles, in vain
    [] q.write \in {"skip", "hand over"} -> Idle
    [] OTHER ->  \* a settle
         IF ~IsMet(q) /\ row.status = "processing" /\ row.fence = q.fence
           THEN Running(q.fence, q.run, row.lease, q.begins)  \* a cancel was requested, or an entry was rejected
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
  /\ \/ row.status # "pending" \/ type.fails \/ row.expires # None
     \/ ~HasExpired(row, Clock(w)) \/ ~Has("READS_EXPIRY")
  /\ Send(w, [write |-> "claim", now |-> Clock(w), nonce |-> nonce, until |-> until,
              generation |-> IF row.status = "pending" THEN row.generation ELSE None])

\* A worker may not know a pause yet, and claim what became due under it.
IsPaused == pause.since # None /\ pause.end = None
WasPaused(r) ==
  IF ~Has("DUE_UNDER_IT") THEN IsPaused
  ELSE pause.since # None /\ pause.since <= r.due /\ (pause.end = None \/ r.due < pause.end)

Skip(w) ==  \* on a message, of an action that is read as due
  /\ worker[w] = Idle /\ row # NoRow /\ row.status = "pending" /\ row.due <= Clock(w)
  /\ \/ HasExpired(row, Clock(w)) /\ ~type.fails
     \/ WasPaused(row) /\ (row.tries = 0 \/ ~Has("NOT_BEGUN"))
  /\ Send(w, [write |-> "skip", generation |-> row.generation])

TakeOver(w, at, nonce, until) ==
  /\ worker[w].phase = "sees a dead run"
  /\ Send(w, [write |-> "take over", fence |-> worker[w].fence, now |-> at, ended_before |-> at - Skew,
              nonce |-> nonce, until |-> until])

OfRun(w, write) ==
  [write |-> write, fence |-> worker[w].fence, run |-> worker[w].run, begins |-> worker[w].begins]
IsRunning(w) == worker[w].phase = "running"

Heartbeat(w, until) == IsRunning(w) /\ Send(w, "until" :> until @@ OfRun(w, "heartbeat"))
HasBegun(w) == IsRunning(w) /\ worker[w].begins
HandOver(w, until) == HasBegun(w) /\ Send(w, "until" :> until @@ OfRun(w, "hand over"))
Settle(w, status) ==
  /\ IsRunning(w) /\ (worker[w].begins \/ status \in {"failed", "cancelled"})
  /\ Send(w, "status" :> status @@ OfRun(w, "settle"))
Commit(w) == HasBegun(w) /\ Send(w, OfRun(w, "settle by commit"))
Retry(w, due) == HasBegun(w) /\ Send(w, "due" :> due @@ OfRun(w, "settle for retry"))

\* The same request again: the client repeats it.
Repeat(w) ==
  /\ worker[w].phase = "unsure"
  /\ LET q == worker[w].request IN Apply(q) /\ Knows(w, Answer(w, q)) /\ UNCHANGED late

Stop(w) == worker[w] # Idle /\ Knows(w, Idle) /\ UNCHANGED <<row, late>>  \* it dies, or gives up

----------------------------------------------------------------------------
(* Callers, parties with a token, and late requests. *)

Ask(q) == UNCHANGED worker /\ Apply(q) /\ UNCHANGED late
AskInVain(q) == UNCHANGED <<worker, row>> /\ Cardinality(late) < MaxLate /\ late' = late \cup {q}

Late == UNCHANGED <<worker, late>> /\ \E q \in late : Apply(q)

----------------------------------------------------------------------------
(* The promises. *)

OneLiveLease ==  \* a worker has it, or a party
  Cardinality({w \in Workers : IsLive(w)}) <= IF IsHandedOver(row) /\ row.lease > now THEN 0 ELSE 1
OneSettleOfAGeneration == row # NoRow => row.ends <= 1
OneCommit == row # NoRow => row.commits <= 1 /\ (row.commits = 1 => row.status = "executed")
NoWriteStrays == row # NoRow => ~row.strays
NoRunAfterARequestToCancel == row # NoRow => ~(row.cancel_requested /\ row.status = "pending")
NoRunBeginsExpired == row # NoRow => ~row.expired

Final == {"executed", "failed", "cancelled", "skipped"}
NothingEarly == row.status = "pending" /\ row'.status = "processing" => row.due <= now + Skew
OnlyWhatHasExpiredOrIsPausedIsSkipped ==
  row # NoRow /\ row.status # "skipped" /\ row'.status = "skipped" =>
    \/ HasExpired(row, now + Skew) /\ ~type.fails
    \/ /\ row.tries = 0 /\ pause.since # None /\ pause.since <= row.due
       /\ pause.end = None \/ row.due <= pause.end + Skew
NoCallersDueTimeHasExpired ==
  row # NoRow /\ row.status # "processing" /\ row'.generation # row.generation => ~HasExpired(row', row'.due)
NothingVanishes == row # NoRow => row' # NoRow
DueStaysDuringARun == row.status = "processing" /\ row'.status = "processing" => row'.due = row.due
WhatIsHandedOverStaysSo ==
  IsHandedOver(row) /\ row'.status = "processing" /\ row'.fence = row.fence =>
    row'.handed = row.handed /\ row'.lease >= row.lease
FinalIsFinal ==
  row.status \in Final /\ row' # row =>
    /\ row.status = "failed"
    /\ \/ row'.status = "pending" /\ row'.generation > row.generation
       \/ row.dismissed = None /\ row' = [row EXCEPT !.dismissed = row'.dismissed]

StatesAreRight == OneLiveLease /\ OneSettleOfAGeneration /\ OneCommit /\ NoWriteStrays
                  /\ NoRunAfterARequestToCancel /\ NoRunBeginsExpired
StepsAreRight == [][NothingEarly /\ OnlyWhatHasExpiredOrIsPausedIsSkipped /\ NoCallersDueTimeHasExpired
                    /\ NothingVanishes /\ DueStaysDuringARun /\ WhatIsHandedOverStaysSo /\ FinalIsFinal]_system
=============================================================================
