package actions

// Body is the JSON form of a request, for descriptions of the API; ParseJSON reads it.
// It is one action, an instruction with one, or several.
type Body struct {
	Wanted
	Action  *Wanted  `json:"action,omitempty" doc:"The action, if type is browser-instruction."`
	Actions []Wanted `json:"actions,omitempty" doc:"Several actions, instead of one: at most 100."`
}

// Wanted is one action of a Body.
type Wanted struct {
	Type      string         `json:"type,omitempty" doc:"start, stop, navigate, click, type, scroll, screenshot or diagnose; of a body with action, browser-instruction."`
	URL       string         `json:"url,omitempty" doc:"The address, for start and navigate." maxBytes:"32768"`
	Selector  string         `json:"selector,omitempty" doc:"The element, for click and type." maxBytes:"4096"`
	Text      string         `json:"text,omitempty" doc:"The text to type." maxBytes:"102400"`
	Direction string         `json:"direction,omitempty" doc:"Where to scroll." one:"down,up,left,right" default:"down"`
	Amount    int            `json:"amount,omitempty" doc:"Pixels to scroll; most of the window by default." min:"1" max:"1048576"`
	Options   *WantedOptions `json:"options,omitempty" doc:"How to carry it out."`
	Steps     []WantedStep   `json:"steps,omitempty" doc:"The steps of a diagnose: at most 50."`
	MaxSteps  int            `json:"maxSteps,omitempty" doc:"How many steps of a diagnose are carried out; all by default." min:"1" max:"50"`
}

// WantedOptions are the options of an action. Which of them count depends on its type.
type WantedOptions struct {
	Timeout           *float64 `json:"timeout,omitempty" doc:"Milliseconds; 0 stands for the most." min:"0" max:"30000" default:"10000"`
	PersonTimeout     *float64 `json:"personTimeout,omitempty" doc:"Milliseconds that it waits while a person is in control; as long as the request may take by default." min:"1" max:"600000"`
	WaitUntil         string   `json:"waitUntil,omitempty" doc:"When a navigation is done." one:"networkidle0,load,domcontentloaded,networkidle" default:"networkidle0"`
	WaitForNavigation *bool    `json:"waitForNavigation,omitempty" doc:"Whether a click waits for the page that it leads to." default:"false"`
	Button            string   `json:"button,omitempty" doc:"The button of the mouse." one:"left,right,middle" default:"left"`
	Delay             *float64 `json:"delay,omitempty" doc:"Milliseconds between the keys of a text." min:"0" max:"10000" default:"100"`
	FullPage          *bool    `json:"fullPage,omitempty" doc:"Whether a screenshot shows the whole page." default:"false"`
	Quality           *float64 `json:"quality,omitempty" doc:"The quality of a screenshot." min:"0" max:"100" default:"80"`
	Headless          *bool    `json:"headless,omitempty" doc:"Without effect: every session has a live view." default:"true"`
}

// WantedStep is a step of a diagnose.
type WantedStep struct {
	Label           string   `json:"label" doc:"What the step is for." required:"true" maxBytes:"200"`
	Action          Wanted   `json:"action" doc:"The action, other than start, stop and diagnose." required:"true"`
	ExpectedLogs    []string `json:"expectedLogs,omitempty" doc:"Texts that must be part of a log line of the step: at most 100."`
	NoJSErrors      *bool    `json:"noJsErrors,omitempty" doc:"Whether an uncaught error makes the step fail." default:"false"`
	NoNetworkErrors *bool    `json:"noNetworkErrors,omitempty" doc:"Whether a failed request makes the step fail." default:"false"`
}
