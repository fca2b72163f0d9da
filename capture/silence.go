package capture

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/chromedp/cdproto/runtime"
	"golang.org/x/time/rate"

	"takeover/background"
	"takeover/cdp"
)

// silencer is the global variable with which a page asks us to ignore its
// console.
const silencer = "__DAEBUG_NO_CONSOLE_CAPTURE"

// silenceMark is the method of the event that carries a page's answer.
const silenceMark = "silence"

// contextID identifies where a console was called: an execution context of a CDP
// session.
type contextID struct {
	session cdp.SessionID
	context int64
}

// question asks a page whether its console is silenced. The answer applies to
// every line between the previous answer and this one.
type question struct {
	contextID
	answered, silent bool // guarded by the monitor's mutex
}

// silenceProbe is the sink of a link's client. It passes events to the intake. After a
// console call, it sends the page a question at once, from the connection's read
// loop. In the intake, the answer follows the lines that it is about.
//
// Chromium sends the result of a command before the events that the command caused
// in other CDP sessions. So a client that logs and reloads at once can be faster
// than the question. Chromium ends the question then, and the lines are kept.
type silenceProbe struct {
	*intake
	limit *rate.Limiter // lines beyond this rate are dropped in any case

	mu     sync.Mutex // guards what follows; never held while something is sent
	client *cdp.Client
	open   map[contextID]*question // not answered yet
}

func newSilenceProbe(q *intake) *silenceProbe {
	return &silenceProbe{
		intake: q, open: map[contextID]*question{},
		limit: rate.NewLimiter(2*background.MaxPerSecond, background.MaxPerSecond),
	}
}

// ask sets the client that the probe uses from now on.
func (s *silenceProbe) ask(client *cdp.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = client
}

// Put passes an event to the intake. The event of a console call gets the
// question that applies to it as its token. Put never waits.
func (s *silenceProbe) Put(ev cdp.Event) {
	if q, ok := ev.Token.(*question); ok {
		s.pass(q, ev)
		return
	}
	if ev.Method != runtime.ConsoleAPICalled.Method {
		s.intake.Put(ev)
		return
	}
	client, q, fresh := s.questionFor(ev)
	if q != nil {
		ev.Token = q
	}
	s.intake.Put(ev)
	if !fresh {
		return
	}
	err := client.Session(q.session).Post(runtime.Evaluate.Method, runtime.EvaluateParams{
		// Reads the page's own variable. A getter in its place cannot have side
		// effects.
		Expression: "globalThis." + silencer + " === true", ContextID: runtime.ExecutionContextID(q.context),
		ThrowOnSideEffect: new(true), Silent: new(true), ReturnByValue: new(true),
	}, q)
	if err != nil {
		s.pass(q, cdp.Event{Token: q, Err: err})
	}
}

// questionFor returns the question that applies to a console call, and whether it
// has to be sent. The question is nil if none is needed.
func (s *silenceProbe) questionFor(ev cdp.Event) (client *cdp.Client, q *question, fresh bool) {
	context, ok := contextOf(ev.Params)
	if !ok {
		return nil, nil, false
	}
	at := contextID{ev.Session, context}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil, nil, false
	}
	if q = s.open[at]; q != nil || !s.limit.Allow() {
		return nil, q, false
	}
	q = &question{contextID: at}
	s.open[at] = q
	return s.client, q, true
}

// contextOf finds the execution context of a console call without decoding the
// arguments. Text of the page cannot contain the searched name, because quotes in
// it are escaped.
func contextOf(params []byte) (int64, bool) {
	const name = `"executionContextId":`
	at := bytes.LastIndex(params, []byte(name))
	if at < 0 {
		return 0, false
	}
	digits := params[at+len(name):]
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(digits)
	}
	n, err := strconv.ParseInt(string(digits[:end]), 10, 64)
	return n, err == nil
}

// pass puts the answer to a question into the intake.
func (s *silenceProbe) pass(q *question, ev cdp.Event) {
	s.mu.Lock()
	delete(s.open, q.contextID)
	s.mu.Unlock()
	ev.Session, ev.Method = q.session, silenceMark
	s.intake.Put(ev)
}

// answeredLocked handles the answer to a question. A page that does not answer is
// not silenced.
func (l *link) answeredLocked(ev cdp.Event) {
	q := ev.Token.(*question) //nolint:forcetypeassert // the probe sets nothing else
	q.answered = true
	var answer struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	if ev.Err == nil && decode(ev.Params, &answer) == nil {
		q.silent, _ = answer.Result.Value.(bool)
	}
	w := l.targets[q.session]
	if w == nil {
		return
	}
	if _, known := w.contexts[q.context]; q.silent && known && len(w.silent) < maxContexts {
		w.silent[q.context] = struct{}{}
	}
	w.passLocked()
}
