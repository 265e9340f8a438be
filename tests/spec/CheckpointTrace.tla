--------------------------- MODULE CheckpointTrace ---------------------------
(* Is each trace of a simulated action with checkpoints a behaviour of Checkpoint? Every line permits only  *)
(* the steps of Checkpoint that do what it says, and leave the row as the line has it. Each run is a worker *)
(* of its own.                                                                                              *)
EXTENDS Checkpoint, Sequences, CheckpointTraces

VARIABLES trace, line

Lines == Traces[trace]

IsShown(l) ==
  /\ row'.status = l.status /\ row'.fence = l.fence /\ row'.continued = l.continued
  /\ row'.checkpoint = [fence |-> l.checkpoint[1], number |-> l.checkpoint[2]]

Sent(w) == [fence |-> worker[w].fence, number |-> worker[w].number + 1]
Follows(l) ==
  CASE l.kind = "look"     -> Look(l.by)
    [] l.kind = "claim"    -> Claim(l.by) /\ worker'[l.by].phase = "runs"
                              /\ worker'[l.by].began = [fence |-> l.began[1], number |-> l.began[2]]
    [] l.kind = "evict"    -> Evict
    [] l.kind = "store"    -> Store(l.by) /\ UNCHANGED late /\ Sent(l.by).number = l.number
    [] l.kind = "send"     -> Store(l.by) /\ late' = late \cup {Sent(l.by)} /\ Sent(l.by).number = l.number
    [] l.kind = "arrive"   -> Late /\ l.checkpoint = <<row'.checkpoint.fence, row'.checkpoint.number>>
    [] l.kind = "continue" -> Continue(l.by) /\ row'.continued > row.continued
    [] l.kind = "end"      -> End(l.by) /\ row' # row

TraceInit == Init /\ trace \in 1..Len(Traces) /\ line = 1
TraceNext ==
  /\ line <= Len(Lines) /\ line' = line + 1
  /\ Follows(Lines[line]) /\ IsShown(Lines[line])
  /\ UNCHANGED trace

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, trace, line>>
Reached == PrintT(<<"reached", trace, line>>)
=============================================================================
