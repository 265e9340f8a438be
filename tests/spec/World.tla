-------------------------------- MODULE World -------------------------------
(* What may happen to an action, in which bounds: workers, callers and time take every order of steps. *)
EXTENDS Action

CONSTANTS
  Lease,     \* how long a claim or a heartbeat holds the row
  MaxTime,   \* from then on, time passes only for what waits for it
  May        \* sets of what may happen, each once: "death", "retry", "pause", "hands over" and the writes of
             \* callers and parties
             \* These stay: "expiry", "type's expiry", "fails on expiry" and "to the past" of a reschedule

VARIABLE left  \* what may still happen
vars == <<system, left>>

Outcomes == {"executed", "failed"} \cup (IF row # NoRow /\ row.cancel_requested THEN {"cancelled"} ELSE {})

Progress(w) ==  \* without a heartbeat
  \/ Claim(w, NewNonce, Clock(w) + Lease)
  \/ Skip(w)
  \/ TakeOver(w, Clock(w), NewNonce, Clock(w) + Lease)
  \/ \E status \in Outcomes : Settle(w, status)
  \/ Commit(w)
  \/ Repeat(w)

Clocks == {Clock(w) : w \in Workers}
RequestsByToken(write) ==  \* of any run, which has its token before it hands over
  {[write |-> write, fence |-> fence, now |-> at, until |-> at + 2 * Lease, due |-> at + 1,
    status |-> "executed"] : fence \in 1..row.fence, at \in Clocks}
Requests(write) ==  \* with what the caller has read
  IF write = "schedule"
    THEN {[write |-> write, due |-> now, expires |-> IF "expiry" \in left THEN now + 1 ELSE None]}
  ELSE IF row = NoRow THEN {}
  ELSE IF write \in ByToken THEN RequestsByToken(write)
  ELSE {[write |-> write, generation |-> row.generation, fence |-> row.fence,
         due |-> IF "to the past" \in left THEN now - 2 ELSE now + Skew + 1, expires |-> None,
         reason |-> now, sees_dismissal |-> write = "redrive" /\ row.dismissed # None]}

IsHeld == \E w \in Workers : worker[w].phase \in {"running", "unsure"}
WaitsForTime ==
  \/ row.status = "pending" /\ row.due > now
  \/ row.status = "processing" /\ ~IsHeld /\ row.lease + 2 * Skew >= now
Tick ==
  /\ row # NoRow /\ (now < MaxTime \/ WaitsForTime)
  /\ now' = now + 1
  /\ UNCHANGED <<row, worker, late, left, offset, type, pause, removed>>

Start ==
  /\ row = NoRow /\ worker = [w \in Workers |-> Idle] /\ late = {}
  /\ offset \in [Workers -> {0, Skew}] /\ \E w \in Workers : offset[w] = 0
TypeAndPause ==
  /\ type = [after |-> IF "type's expiry" \in left THEN 1 ELSE None, fails |-> "fails on expiry" \in left]
  /\ pause = NoPause
Init == Start /\ now = 0 /\ left \in May /\ removed = {} /\ TypeAndPause

Spend(event) == event \in left /\ left' = left \ {event}

Act(w) ==
  \/ Progress(w) /\ UNCHANGED left
  \/ now <= MaxTime /\ Heartbeat(w, Clock(w) + Lease) /\ UNCHANGED left
  \/ Spend("retry") /\ Retry(w, Clock(w) + 1)
  \/ Spend("hands over") /\ HandOver(w, Clock(w) + Lease)
  \/ Spend("death") /\ Stop(w)
  \/ worker[w].phase = "unsure" /\ Stop(w) /\ UNCHANGED left

\* An operator begins and ends the pause.
Pause ==
  /\ \/ Spend("pause") /\ pause' = [since |-> now, end |-> None]
     \/ IsPaused /\ pause' = [pause EXCEPT !.end = now] /\ UNCHANGED left
  /\ UNCHANGED <<now, offset, row, worker, late, type, removed>>

Next ==
  \/ Tick
  \/ Pause
  \/ /\ UNCHANGED <<now, offset, type, pause, removed>>
     /\ \/ \E w \in Workers : Act(w)
        \/ \E write \in left \cap DOMAIN Conditions : \E q \in Requests(write) :
             \/ Ask(q) /\ Spend(write)
             \/ AskInVain(q) /\ UNCHANGED left
        \/ Late /\ UNCHANGED left

\* The sweep sends a message for each due row, and a worker that receives one goes on.
GoesOn(w) == Progress(w) /\ UNCHANGED <<now, late, left, offset, type, pause, removed>>
Fairness == WF_vars(Tick) /\ \A w \in Workers : WF_vars(GoesOn(w))
Symmetry == Permutations(Workers)
Spec == Init /\ [][Next]_vars /\ Fairness
WithoutASweep == Init /\ [][Next]_vars /\ WF_vars(Tick)

EachBecomesFinal == [](row # NoRow => <>(row.status \in Final))
=============================================================================
