-------------------------------- MODULE Batch -------------------------------
(* A batch: processes count its members from their rows, one complete count releases the action that waits *)
(* for it, and callers redrive failed members before or after that. A write of the batch requires the      *)
(* version that was read; the release requires the generation. A count whose version is old changes        *)
(* nothing, so it ends here as soon as the batch is written.                                               *)
(*                                                                                                         *)
(* The faults: a count may begin at any moment, and stop between any two reads; a redrive may arrive after *)
(* its caller has died. No record of the stream is needed, so all may be lost. A record, or a late write   *)
(* of a redrive's caller, may have the batch counted again at any moment.                                  *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Members,    \* the numbers of the members
  Counters,   \* the processes that count and release
  MaxRedrives

VARIABLES
  row,        \* of each member: "pending", or how it ended
  redriven,   \* how often each was redriven
  batch,      \* the batch's item; `known` has the members that were counted as final
  counter,    \* what each process knows
  caller,     \* the caller of a redrive
  late,       \* members whose redrive is under way without a caller
  follower,   \* the action that waits for the batch
  removed     \* the guards that a mutant leaves out

vars == <<row, redriven, batch, counter, caller, late, follower, removed>>
Guards ==
  {"VERSION_IS_AS_READ", "IS_CLOSED", "ALL_ARE_FINAL", "GENERATION_IS_AS_READ", "IS_COMPLETE",
   "COUNTED_AGAIN_BEFORE", "COUNTED_AGAIN_AFTER", "COUNTED_ONCE_MORE"}
Has(guard) == guard \notin removed

Ends == {"executed", "failed", "cancelled"}
Unknown == [m \in Members |-> "?"]
Idle == [phase |-> "idle"]
IsFinal(m) == row[m] # "pending"
IsComplete == batch.closed /\ ~batch.counting

\* The processes after a write of the batch.
Outdated ==
  [c \in Counters |->
    IF counter[c].phase = "counting" /\ Has("VERSION_IS_AS_READ") THEN Idle ELSE counter[c]]

Start ==
  /\ row = [m \in Members |-> "pending"] /\ redriven = [m \in Members |-> 0]
  /\ batch = [members |-> {}, closed |-> FALSE, counting |-> TRUE, known |-> Unknown, restarted |-> FALSE,
              recount |-> FALSE]
  /\ counter = [c \in Counters |-> Idle] /\ caller = Idle /\ late = {}
  /\ follower = [held |-> TRUE, generation |-> 1, releases |-> 0, too_soon |-> FALSE]
Init == Start /\ removed = {}

Add ==
  /\ ~batch.closed
  /\ \E m \in Members \ batch.members : batch' = [batch EXCEPT !.members = @ \cup {m}]
  /\ counter' = Outdated
  /\ UNCHANGED <<row, redriven, caller, late, follower, removed>>

Close ==
  /\ ~batch.closed /\ batch.members # {} /\ batch' = [batch EXCEPT !.closed = TRUE] /\ counter' = Outdated
  /\ UNCHANGED <<row, redriven, caller, late, follower, removed>>

End(m) ==
  /\ m \in batch.members /\ ~IsFinal(m)
  /\ \E status \in Ends : row' = [row EXCEPT ![m] = status]
  /\ UNCHANGED <<redriven, batch, counter, caller, late, follower, removed>>

----------------------------------------------------------------------------
(* A count reads the members that are not known to be final, or all. A complete batch is counted once more *)
(* when no redrive can arrive any longer.                                                                  *)

LookWith(c, seen) ==
  /\ counter[c] = Idle
  /\ counter' = [counter EXCEPT ![c] = [phase |-> "counting", read |-> batch, seen |-> seen,
                                        left |-> {m \in batch.members : seen[m] = "?"}]]
  /\ UNCHANGED <<row, redriven, batch, caller, late, follower, removed>>
Look(c) ==
  /\ batch.counting \/ (batch.recount /\ Has("COUNTED_ONCE_MORE") /\ late = {} /\ caller = Idle)
  /\ LookWith(c, IF batch.counting THEN batch.known ELSE Unknown)
LookAtAll(c) == batch.counting /\ LookWith(c, Unknown)

Read(c) ==
  /\ counter[c].phase = "counting"
  /\ \E m \in counter[c].left :
       counter' = [counter EXCEPT ![c].left = @ \ {m}, ![c].seen[m] = IF IsFinal(m) THEN row[m] ELSE @]
  /\ UNCHANGED <<row, redriven, batch, caller, late, follower, removed>>

IsDone(k) ==
  /\ k.read.closed \/ ~Has("IS_CLOSED")
  /\ (\A m \in k.read.members : k.seen[m] # "?") \/ ~Has("ALL_ARE_FINAL")
Counted(k) ==
  [k.read EXCEPT !.known = k.seen, !.counting = ~IsDone(k),
            !.recount = IsDone(k) /\ k.read.restarted /\ ~k.read.recount]
IsNews(k) == k.seen # k.read.known \/ IsDone(k) \/ ~k.read.counting

Write(c) ==
  LET k == counter[c] IN
  /\ k.phase = "counting" /\ k.left = {}
  /\ batch' = IF IsNews(k) THEN Counted(k) ELSE batch
  /\ counter' = [IF IsNews(k) THEN Outdated ELSE counter EXCEPT ![c] = Idle]
  /\ UNCHANGED <<row, redriven, caller, late, follower, removed>>

LookAtFollower(c) ==
  /\ counter[c] = Idle /\ follower.held /\ (IsComplete \/ ~Has("IS_COMPLETE"))
  /\ counter' = [counter EXCEPT ![c] = [phase |-> "releasing", generation |-> follower.generation]]
  /\ UNCHANGED <<row, redriven, batch, caller, late, follower, removed>>

Release(c) ==
  /\ counter[c].phase = "releasing"
  /\ follower' = IF follower.generation = counter[c].generation \/ ~Has("GENERATION_IS_AS_READ")
       THEN [held |-> FALSE, generation |-> follower.generation + 1, releases |-> follower.releases + 1,
             too_soon |-> \E m \in batch.members : ~IsFinal(m) /\ redriven[m] = 0]
       ELSE follower
  /\ counter' = [counter EXCEPT ![c] = Idle]
  /\ UNCHANGED <<row, redriven, batch, caller, late, removed>>

----------------------------------------------------------------------------
(* A redrive: the batch counts again before it, unless nothing was counted since another, and after it. *)

CountAgain ==
  /\ batch' = [batch EXCEPT !.counting = TRUE, !.known = Unknown, !.restarted = TRUE, !.recount = FALSE]
  /\ counter' = Outdated
CountsAgain == batch.counting /\ batch.restarted /\ batch.known = Unknown
Redrives(m) == redriven[m] + IF m \in late THEN 1 ELSE 0

Begin ==
  /\ caller = Idle
  /\ \E m \in Members : /\ row[m] = "failed" /\ Redrives(m) < MaxRedrives
                        /\ caller' = [phase |-> "redrives", of |-> m]
  /\ IF Has("COUNTED_AGAIN_BEFORE") /\ ~CountsAgain THEN CountAgain ELSE UNCHANGED <<batch, counter>>
  /\ UNCHANGED <<row, redriven, late, follower, removed>>

Redriven(m) ==
  /\ row' = IF row[m] = "failed" THEN [row EXCEPT ![m] = "pending"] ELSE row
  /\ redriven' = IF row[m] = "failed" THEN [redriven EXCEPT ![m] = @ + 1] ELSE redriven

Redrive ==
  /\ caller.phase = "redrives"
  /\ \/ Redriven(caller.of) /\ caller' = [caller EXCEPT !.phase = "has redriven"] /\ UNCHANGED late
     \/ late' = late \cup {caller.of} /\ caller' = Idle /\ UNCHANGED <<row, redriven>>  \* it dies
  /\ UNCHANGED <<batch, counter, follower, removed>>

CountAfter ==
  /\ caller.phase = "has redriven" /\ caller' = Idle
  /\ \/ IF Has("COUNTED_AGAIN_AFTER") THEN CountAgain ELSE UNCHANGED <<batch, counter>>
     \/ Has("COUNTED_ONCE_MORE") /\ UNCHANGED <<batch, counter>>  \* it dies
  /\ UNCHANGED <<row, redriven, late, follower, removed>>

Arrive ==
  /\ \E m \in late : Redriven(m) /\ late' = late \ {m}
  /\ UNCHANGED <<batch, counter, caller, follower, removed>>

CountStep(c) == Look(c) \/ Read(c) \/ Write(c) \/ LookAtFollower(c) \/ Release(c)
Next ==
  \/ Add \/ Close \/ Begin \/ Redrive \/ CountAfter \/ Arrive
  \/ \E m \in Members : End(m)
  \/ \E c \in Counters : CountStep(c)

Fairness ==
  /\ WF_vars(Add) /\ WF_vars(Close) /\ WF_vars(Redrive) /\ WF_vars(CountAfter) /\ WF_vars(Arrive)
  /\ \A m \in Members : WF_vars(End(m))
  /\ \A c \in Counters : WF_vars(CountStep(c))
Spec == Init /\ [][Next]_vars /\ Fairness

\* What may also happen, but need not, and for ever.
Again == batch.members # {} /\ CountAgain /\ UNCHANGED <<row, redriven, caller, late, follower, removed>>
GiveUp ==
  /\ caller.phase = "redrives" /\ caller' = Idle
  /\ UNCHANGED <<row, redriven, batch, counter, late, follower, removed>>
NextWithOthers == Next \/ Again \/ GiveUp \/ \E c \in Counters : LookAtAll(c)
SpecWithOthers == Init /\ [][NextWithOthers]_vars
Symmetry == Permutations(Members) \cup Permutations(Counters)

----------------------------------------------------------------------------
(* The promises. *)

ReleasedOnce == follower.releases <= 1
ReleasedInTime == ~follower.too_soon
IsAtRest ==
  /\ \A m \in batch.members : IsFinal(m)
  /\ caller = Idle /\ late = {} /\ IsComplete /\ \A c \in Counters : counter[c] = Idle
  /\ ~batch.recount \/ ~Has("COUNTED_ONCE_MORE")
ExactAtRest == IsAtRest => \A m \in batch.members : batch.known[m] = row[m]
CloseStays == [][batch.closed => batch'.closed]_vars
EachCompletes == <>(IsComplete /\ follower.releases = 1)
=============================================================================
