----------------------------- MODULE BatchTrace ------------------------------
(* Is each trace of a simulated batch a behaviour of Batch? Every line permits only the steps of Batch that *)
(* do what it says, and leave the batch, its members and its completion action as the line has them.       *)
EXTENDS Batch, Sequences, BatchTraces

VARIABLES trace, line

Lines == Traces[trace]

HowMany(known, status) == Cardinality({m \in DOMAIN known : known[m] = status})
IsShown(l) ==
  /\ \A m \in Members : row'[m] = IF m < Len(l.rows) THEN l.rows[m + 1] ELSE "pending"
  /\ batch'.closed = l.closed /\ batch'.counting = l.counting /\ batch'.recount = l.recount
  /\ follower'.held = l.held
  /\ l.kind = "write" => l.counts = <<HowMany(batch'.known, "executed"), HowMany(batch'.known, "failed"),
                                      HowMany(batch'.known, "cancelled")>>

Follows(l) ==
  CASE l.kind = "add"     -> Add /\ l.member \in batch'.members
    [] l.kind = "close"   -> Close
    [] l.kind = "end"     -> End(l.member)
    [] l.kind = "look"    -> IF l.all /\ batch.counting THEN LookAtAll(l.by) ELSE Look(l.by)
    [] l.kind = "read"    -> Read(l.by) /\ counter'[l.by].left = counter[l.by].left \ {l.member}
    [] l.kind = "write"   -> Write(l.by)
    [] l.kind = "look at what waits" -> LookAtFollower(l.by)
    [] l.kind = "release" -> Release(l.by)
    [] l.kind = "again"   -> Again
    [] l.kind = "begin"   -> Begin /\ caller'.of = l.member
    [] l.kind = "redrive" -> Redrive /\ caller.of = l.member /\ caller' # Idle
    [] l.kind = "late"    -> Redrive /\ caller' = Idle
    [] l.kind = "give up" -> GiveUp
    [] l.kind = "count after" -> CountAfter /\ batch'.known = Unknown
    [] l.kind = "stop"    -> CountAfter /\ UNCHANGED batch
    [] l.kind = "arrive"  -> Arrive /\ l.member \notin late'

TraceInit == Init /\ trace \in 1..Len(Traces) /\ line = 1
TraceNext ==
  /\ line <= Len(Lines) /\ line' = line + 1
  /\ Follows(Lines[line]) /\ IsShown(Lines[line])
  /\ UNCHANGED trace

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, trace, line>>
Reached == PrintT(<<"reached", trace, line>>)
=============================================================================
