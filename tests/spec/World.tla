-------------------------------- MODULE World -------------------------------
(* What may happen to an action, in which bounds: workers, callers and time take every order of steps. *)
EXTENDS Action

CONSTANTS
  Lease,     \* how long a claim or a heartbeat holds the row
  MaxTime,   \* from then on, time passes only for what waits for it
  May        \* sets of what may happen, each once: "death", "retry" and the callers' writes

VARIABLE left  \* what may still happen
vars == <<system, left>>

Outcomes == {"executed", "failed"} \cup (IF row # NoRow /\ row.asked THEN {"cancelled"} ELSE {})

Progress(w) ==  \* without a heartbeat
  \/ Claim(w, NewNonce, Clock(w) + Lease)
  \/ TakeOver(w, NewNonce, Clock(w) + Lease)
  \/ \E status \in Outcomes : Settle(w, status)
  \/ Commit(w)
  \/ Repeat(w)

Requests(write) ==  \* with what the caller has read
  IF write = "schedule" THEN {[write |-> write, due |-> now]}
  ELSE IF row = NoRow THEN {}
  ELSE {[write |-> write, gen |-> row.gen, fence |-> row.fence, due |-> now + Skew + 1, reason |-> now,
         sees_dismissal |-> write = "redrive" /\ row.dismissed # None]}

IsHeld == \E w \in Workers : worker[w].phase \in {"running", "unsure"}
WaitsForTime ==
  \/ row.status = "pending" /\ row.due > now
  \/ row.status = "processing" /\ ~IsHeld /\ row.lease + 2 * Skew >= now
Tick ==
  /\ row # NoRow /\ (now < MaxTime \/ WaitsForTime)
  /\ now' = now + 1
  /\ UNCHANGED <<row, worker, late, left, offset, removed>>

Start ==
  /\ row = NoRow /\ worker = [w \in Workers |-> Idle] /\ late = {}
  /\ offset \in [Workers -> {0, Skew}] /\ \E w \in Workers : offset[w] = 0
Init == Start /\ now = 0 /\ left \in May /\ removed = {}

Spend(event) == event \in left /\ left' = left \ {event}

Act(w) ==
  \/ Progress(w) /\ UNCHANGED left
  \/ now <= MaxTime /\ Heartbeat(w, Clock(w) + Lease) /\ UNCHANGED left
  \/ Spend("retry") /\ Retry(w, Clock(w) + 1)
  \/ Spend("death") /\ Stop(w)
  \/ worker[w].phase = "unsure" /\ Stop(w) /\ UNCHANGED left

Next ==
  \/ Tick
  \/ /\ UNCHANGED <<now, offset, removed>>
     /\ \/ \E w \in Workers : Act(w)
        \/ \E write \in left \cap DOMAIN Conditions : \E q \in Requests(write) :
             \/ Ask(q) /\ Spend(write)
             \/ AskInVain(q) /\ UNCHANGED left
        \/ Late /\ UNCHANGED left

\* The sweep sends a message for each due row, and a worker that receives one goes on.
GoesOn(w) == Progress(w) /\ UNCHANGED <<now, late, left, offset, removed>>
Fairness == WF_vars(Tick) /\ \A w \in Workers : WF_vars(GoesOn(w))
Symmetry == Permutations(Workers)
Spec == Init /\ [][Next]_vars /\ Fairness
WithoutASweep == Init /\ [][Next]_vars /\ WF_vars(Tick)

EachBecomesFinal == [](row # NoRow => <>(row.status \in Final))
=============================================================================
