----------------------------- MODULE Checkpoint -----------------------------
(* The checkpoint of an action: runs store it, and the next one begins with it. A run that stored another  *)
(* one may continue, without using up an attempt. A claim reads the row first, as one under a concurrency  *)
(* key does: its run begins with the checkpoint that it has read.                                          *)
(*                                                                                                         *)
(* The faults: a write without an answer may be applied at any later moment, several times; a run may stop *)
(* at any moment, and one that was taken over may go on.                                                   *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Workers,
  MaxFence,     \* how many runs begin
  MostOfARun    \* how many checkpoints a run stores

VARIABLES
  row,       \* status, fence and checkpoint: the fence of its run, and its number in that run
  worker,    \* what each worker knows
  late,      \* checkpoints without an answer
  stored,    \* the last checkpoint whose write was answered
  values,    \* how many were stored
  removed    \* the guards that a mutant leaves out

vars == <<row, worker, late, stored, values, removed>>
Guards == {"FENCE_IS_MINE", "IS_NEWER", "CHECKPOINT_IS_AS_READ", "HAS_ANOTHER"}
Has(guard) == guard \notin removed

Idle == [phase |-> "idle"]
Nothing == [fence |-> 0, number |-> 0]
IsAfter(a, b) == a.fence > b.fence \/ (a.fence = b.fence /\ a.number > b.number)
Latest(a, b) == IF IsAfter(a, b) THEN a ELSE b

Start ==
  /\ row = [status |-> "pending", fence |-> 0, checkpoint |-> Nothing, continued |-> 0]
  /\ worker = [w \in Workers |-> Idle] /\ late = {} /\ stored = Nothing /\ values = 0
Init == Start /\ removed = {}

\* A row that is processing may have a lease that has ended: another worker takes it over.
Look(w) ==
  /\ worker[w] = Idle /\ row.status \in {"pending", "processing"} /\ row.fence < MaxFence
  /\ worker' = [worker EXCEPT ![w] = [phase |-> "claims", read |-> row]]
  /\ UNCHANGED <<row, late, stored, values, removed>>

Claim(w) ==
  LET read == worker[w].read
      isAsRead == /\ row.status = read.status /\ row.fence = read.fence
                  /\ row.checkpoint = read.checkpoint \/ ~Has("CHECKPOINT_IS_AS_READ") IN
  /\ worker[w].phase = "claims"
  /\ row' = IF isAsRead THEN [row EXCEPT !.status = "processing", !.fence = @ + 1] ELSE row
  /\ worker' = [worker EXCEPT ![w] = IF ~isAsRead THEN Idle ELSE
       [phase |-> "runs", fence |-> row.fence + 1, began |-> read.checkpoint, number |-> 0,
        late |-> IsAfter(stored, read.checkpoint)]]
  /\ UNCHANGED <<late, stored, values, removed>>

IsApplied(c) ==
  /\ (row.status = "processing" /\ row.fence = c.fence) \/ ~Has("FENCE_IS_MINE")
  /\ IsAfter(c, row.checkpoint) \/ ~Has("IS_NEWER")
Apply(c) == row' = IF IsApplied(c) THEN [row EXCEPT !.checkpoint = c] ELSE row

Store(w) ==
  /\ worker[w].phase = "runs" /\ worker[w].number < MostOfARun
  /\ LET c == [fence |-> worker[w].fence, number |-> worker[w].number + 1]
         isMine == row.status = "processing" /\ row.fence = c.fence IN
       /\ worker' = [worker EXCEPT ![w].number = @ + 1]
       /\ values' = values + 1
       /\ \/ Apply(c) /\ UNCHANGED late /\ stored' = IF isMine THEN Latest(c, stored) ELSE stored
          \/ late' = late \cup {c} /\ UNCHANGED <<row, stored>>
  /\ UNCHANGED removed

Late ==
  /\ \E c \in late : Apply(c) /\ \/ late' = late \ {c} \/ UNCHANGED late
  /\ UNCHANGED <<worker, stored, values, removed>>

\* A run goes on if its row has another checkpoint than it began with; else it fails.
Continue(w) ==
  /\ worker[w].phase = "runs"
  /\ worker' = [worker EXCEPT ![w] = Idle]
  /\ row' = IF row.status # "processing" \/ row.fence # worker[w].fence THEN row
            ELSE IF worker[w].number > 0 \/ ~Has("HAS_ANOTHER")
              THEN [row EXCEPT !.status = "pending", !.continued = @ + 1]
            ELSE [row EXCEPT !.status = "failed"]
  /\ UNCHANGED <<late, stored, values, removed>>

End(w) ==  \* or a retry
  /\ worker[w].phase = "runs"
  /\ worker' = [worker EXCEPT ![w] = Idle]
  /\ IF row.status = "processing" /\ row.fence = worker[w].fence
       THEN \E status \in {"executed", "failed", "pending"} : row' = [row EXCEPT !.status = status]
       ELSE UNCHANGED row
  /\ UNCHANGED <<late, stored, values, removed>>

Stop(w) ==
  /\ worker[w] # Idle /\ worker' = [worker EXCEPT ![w] = Idle]
  /\ UNCHANGED <<row, late, stored, values, removed>>

Evict ==  \* from its slot of a concurrency key, as a claim that does nothing else; only traces have it
  /\ row.status \in {"pending", "processing"} /\ row.fence < MaxFence /\ row' = [row EXCEPT !.fence = @ + 1]
  /\ UNCHANGED <<worker, late, stored, values, removed>>

Next == Late \/ \E w \in Workers : Look(w) \/ Claim(w) \/ Store(w) \/ Continue(w) \/ End(w) \/ Stop(w)
Spec == Init /\ [][Next]_vars
Symmetry == Permutations(Workers)

----------------------------------------------------------------------------
(* The promises. *)

NoneIsLost == \A w \in Workers : worker[w].phase # "runs" \/ ~worker[w].late
EachContinuationHasACheckpoint == row.continued <= values
NeverBack == [][row'.checkpoint = row.checkpoint \/ IsAfter(row'.checkpoint, row.checkpoint)]_vars
NoneOfAFormerRun == [][row'.checkpoint # row.checkpoint => row'.checkpoint.fence = row.fence]_vars
=============================================================================
