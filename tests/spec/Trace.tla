------------------------------- MODULE Trace --------------------------------
(* Is each trace of the simulator a behaviour of Action? Every line of a trace permits only the steps of    *)
(* Action that send or apply its request and leave the row as the line has it. TLC prints how far it comes. *)
EXTENDS Action, Sequences, Traces

VARIABLES trace, line

Lines == Traces[trace].lines
At(i) == IF i <= Len(Lines) THEN Lines[i].at ELSE Lines[Len(Lines)].at

Seen(r) ==
  <<r.status, r.due, r.generation, r.fence, r.lease, r.nonce, r.cancel_requested, r.dismissed # None,
    r.expires, r.handed>>
IsOf(l, q) == q.write = l.write /\ \A name \in DOMAIN q \cap DOMAIN l : q[name] = l[name]

Request(l) ==  \* by a caller or a party
  IF l.write \in {"schedule"} \cup ByToken THEN l
  ELSE [write |-> l.write, due |-> l.due, expires |-> l.expires, generation |-> l.generation, fence |-> l.fence,
        reason |-> l.at, sees_dismissal |-> l.write = "redrive" /\ l.sees_dismissal]

Sends(w, l) ==
  CASE l.write = "claim"            -> l.now = Clock(w) /\ Claim(w, l.nonce, l.until)
    [] l.write = "skip"             -> row.generation = l.generation /\ Skip(w)
    [] l.write = "take over"        -> l.now <= Clock(w) /\ TakeOver(w, l.now, l.nonce, l.until)
    [] l.write = "heartbeat"        -> IsRunning(w) /\ worker[w].fence = l.fence /\ Heartbeat(w, l.until)
    [] l.write = "hand over"        -> IsRunning(w) /\ worker[w].fence = l.fence /\ HandOver(w, l.until)
    [] l.write = "settle"           -> IsRunning(w) /\ worker[w].fence = l.fence /\ Settle(w, l.status)
    [] l.write = "settle by commit" -> IsRunning(w) /\ worker[w].fence = l.fence /\ Commit(w)
    [] l.write = "settle for retry" -> IsRunning(w) /\ worker[w].fence = l.fence /\ Retry(w, l.due)

Follows(l) ==
  IF l.by = 0 THEN UNCHANGED <<worker, late>> /\ Ask(Request(l))
  ELSE
    \/ l.fate = "answered" /\ Sends(l.by, l) /\ UNCHANGED late
    \/ l.fate = "unanswered" /\ Sends(l.by, l) /\ late' # late
    \/ l.fate = "again" /\ worker[l.by].phase = "unsure" /\ IsOf(l, worker[l.by].request) /\ Repeat(l.by)
    \/ l.fate = "again" /\ UNCHANGED <<worker, late>> /\ \E q \in late : IsOf(l, q) /\ Apply(q)

TraceInit ==
  /\ trace \in 1..Len(Traces) /\ line = 1 /\ now = At(1)
  /\ row = NoRow /\ worker = [w \in Workers |-> Idle] /\ late = {} /\ removed = {}
  /\ type = Traces[trace].type /\ pause = Traces[trace].pause
  /\ offset = [w \in Workers |-> IF w <= Len(Traces[trace].offsets) THEN Traces[trace].offsets[w] ELSE 0]

TraceNext ==
  /\ line <= Len(Lines) /\ line' = line + 1 /\ now' = At(line + 1)
  /\ Follows(Lines[line])
  /\ row' # NoRow /\ Seen(row') = Lines[line].row
  /\ UNCHANGED <<trace, offset, type, pause, removed>>

TraceSpec == TraceInit /\ [][TraceNext]_<<system, trace, line>>
Reached == PrintT(<<"reached", trace, line>>)
=============================================================================
