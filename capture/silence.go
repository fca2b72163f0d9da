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

// place identifies where a console was called: an execution context of a CDP
// session.
type place struct {
	session cdp.SessionID
	context int64
}

// question asks a page whether its console is silenced. The answer applies to
// every line between the previous answer and this one.
type question struct {
	place
	answered, silent bool // guarded by the monitor's mutex
}

// asker is the sink of a link's client. It passes events to the intake. After a
// console call, it sends the page a question at once, from the connection's read
// loop. In the intake, the answer follows the lines that it is about.
//
// Chromium sends the result of a command before the events that the command caused
// in other CDP sessions. So a client that logs and reloads at once can be faster
// than the question. Chromium ends the question then, and the lines are kept.
type asker struct {
	*intake
	limit *rate.Limiter // lines beyond this rate are dropped in any case

	mu     sync.Mutex // guards what follows; never held while something is sent
	client *cdp.Client
	open   map[place]*question // not answered yet
}

func newAsker(q *intake) *asker {
	return &asker{
		intake: q, open: map[place]*question{},
		limit: rate.NewLimiter(2*background.MaxPerSecond, background.MaxPerSecond),
	}
}

// ask sets the client that the asker uses from now on.
func (a *asker) ask(client *cdp.Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.client = client
}

// Put passes an event to the intake. The event of a console call gets the
// question that applies to it as its token. Put never waits.
func (a *asker) Put(ev cdp.Event) {
	if q, ok := ev.Token.(*question); ok {
		a.pass(q, ev)
		return
	}
	if ev.Method != runtime.ConsoleAPICalled.Method {
		a.intake.Put(ev)
		return
	}
	client, q, fresh := a.questionFor(ev)
	if q != nil {
		ev.Token = q
	}
	a.intake.Put(ev)
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
		a.pass(q, cdp.Event{Token: q, Err: err})
	}
}

// questionFor returns the question that applies to a console call, and whether it
// has to be sent. The question is nil if none is needed.
func (a *asker) questionFor(ev cdp.Event) (client *cdp.Client, q *question, fresh bool) {
	context, ok := contextOf(ev.Params)
	if !ok {
		return nil, nil, false
	}
	at := place{ev.Session, context}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client == nil {
		return nil, nil, false
	}
	if q = a.open[at]; q != nil || !a.limit.Allow() {
		return nil, q, false
	}
	q = &question{place: at}
	a.open[at] = q
	return a.client, q, true
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
func (a *asker) pass(q *question, ev cdp.Event) {
	a.mu.Lock()
	delete(a.open, q.place)
	a.mu.Unlock()
	ev.Session, ev.Method = q.session, silenceMark
	a.intake.Put(ev)
}

// answeredLocked handles the answer to a question. A page that does not answer is
// not silenced.
func (l *link) answeredLocked(ev cdp.Event) {
	q := ev.Token.(*question) //nolint:forcetypeassert // the asker sets nothing else
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
