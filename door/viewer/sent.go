package viewer

import (
	"takeover/questions"
	"takeover/session"
)

// SentMessage is a type of message that the server sends to viewers.
type SentMessage struct {
	Empty any    // a message without values, whose fields /docs lists
	Does  string // what it says, for /docs
}

// Sent lists the messages that the server sends, by type.
var Sent = map[string]SentMessage{
	"hello":      {session.HelloMessage{}, "The first message: who the viewer is and what its role is. resume is a secret for ?resume=, with which a new connection keeps control. taken is the number of the last input that was handled, field the field that the person pressed last, if that has the focus now; leaseGrace is how long (ms) control is kept for a connection that broke."},
	"control":    {session.ControlMessage{}, "Who is in control, and the epoch that input has to carry. Comes with each change. asked means that another person asks for control."},
	"tabs":       {session.TabsMessage{}, "The tabs, and which one is shown. Comes with each change."},
	"life":       {session.LifeMessage{}, "The time at which the session ends, and whether it is being recorded. Sent on each change."},
	"takeover":   {session.TakeoverMessage{}, "The open takeover, as in the API, or null."},
	"run":        {session.RunMessage{}, "A run that began, changed its status or ended, as in the API but without logs and steps."},
	"dialog":     {questions.DialogMessage{}, "A dialog of the page that needs an answer: kind is alert, confirm, prompt or beforeunload. closed means that it no longer needs an answer."},
	"select":     {questions.SelectMessage{}, "A list or picker of a field, for the viewer to draw. closed means that it no longer needs an answer."},
	"chooser":    {questions.ChooserMessage{}, "A page asks for files. closed means that it no longer needs an answer."},
	"auth":       {questions.AuthMessage{}, "A server or proxy asks for a name and a password. closed means that it no longer needs an answer."},
	"permission": {questions.PermissionMessage{}, "A page asks for a permission. closed means that it no longer needs an answer."},
	"download":   {session.DownloadMessage{}, "The state of a download: running, done, failed or cancelled. When it is done, it is the session's file of this name."},
	"menu":       {session.MenuMessage{}, "The person in control asked for a context menu: what is under the pointer."},
	"cursor":     {session.CursorMessage{}, "The shape of the remote pointer, a CSS keyword."},
	"focus":      {session.FocusMessage{}, "Whether typed text goes into a field, what kind of field that is, and where the field, what surrounds it and its caret are. field rises when another field or document has the focus."},
	"form":       {session.FormMessage{}, "The field that probably waits for the person who has just taken control, although none has the focus: a small screen may open on it. rect, element, around and text are as in focus."},
	"taken":      {session.TakenMessage{}, "All inputs up to this n were handled: the viewer need not send them again."},
	"untaken":    {session.UntakenMessage{}, "The inputs from one n to another had no effect: why is control (not in control any more), field (another field or document had the focus), tab (another tab was shown), page (no page could take it) or input (the message was wrong)."},
	"clipboard":  {session.ClipboardMessage{}, "What the page copied, for the person in control: text, or an image as a PNG in base64."},
	"stats":      {statsMessage{}, "Pictures sent per second, the time from a picture to its ack, pictures skipped since the last message, kilobits per second."},
	"pong":       {pongMessage{}, "The answer to ping."},
	"crashed":    {session.StateMessage{}, "The browser died. It is started again."},
	"waking":     {session.StateMessage{}, "The session hibernates. Its browser is started again, because you came."},
	"recovered":  {session.StateMessage{}, "The browser is back after it died, or after the session hibernated."},
	"error":      {session.ErrorMessage{}, "What the server refused, in words for a person."},
	"ended":      {session.EndedMessage{}, "The session ended: the last message, before close code 1000."},
}
