package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

type verifyElementArgs struct {
	where
	Role string `json:"role" jsonschema:"such as button, link, heading"`
	Name string `json:"accessibleName" jsonschema:"its name, as browser_snapshot shows it"`
}

type verifyTextArgs struct {
	where
	Text string `json:"text"`
}

type verifyListArgs struct {
	where
	Target string   `json:"target" jsonschema:"ref or selector of the list"`
	Items  []string `json:"items" jsonschema:"texts that it must have"`
}

type verifyValueArgs struct {
	where
	Type   string `json:"type,omitempty" jsonschema:"checkbox or radio for a value of true or false; default: a text"`
	Target string `json:"target" jsonschema:"ref or selector of the field"`
	Value  string `json:"value"`
}

type locatorArgs struct {
	where
	Target string `json:"target" jsonschema:"ref or selector"`
}

// verifyTime is how long what is verified may take to appear.
const verifyTime = 5 * time.Second

// verifyTools check what a page shows. An error says what it shows instead.
var verifyTools = []tool{
	row("browser_verify_element_visible", setVerify, "Verify an element", reads,
		"Check that an element is visible.", `{"role": "button", "accessibleName": "Pay"}`, (*call).verifyElement),
	row("browser_verify_text_visible", setVerify, "Verify a text", reads,
		"Check that a text is visible.", `{"text": "Thank you"}`, (*call).verifyText),
	row("browser_verify_list_visible", setVerify, "Verify a list", reads,
		"Check that an element has all these texts.", `{"target": "e12", "items": ["Apples", "Pears"]}`, (*call).verifyList),
	row("browser_verify_value", setVerify, "Verify a value", reads,
		"Check what a field holds.", `{"target": "e12", "value": "42"}`, (*call).verifyValue),
	row("browser_generate_locator", setVerify, "Write a locator", reads,
		"Get a locator for Playwright code of an element.", `{"target": "e12"}`, (*call).locator),
}

// verified waits until a selector is visible.
func (c *call) verified(w where, selector, what string) (*answer, error) {
	_, t, err := c.readableAt(w)
	if err != nil {
		return nil, err
	}
	t.Timeout = verifyTime
	if err := t.WaitFor(c.ctx, selector, "visible"); err != nil {
		return nil, fmt.Errorf("%s is not visible. browser_snapshot shows the page", what)
	}
	return say("%s is visible.", title(what)), nil
}

func (c *call) verifyElement(in verifyElementArgs) (*answer, error) {
	if in.Role == "" || strings.ContainsAny(in.Role, `[]"=> `) {
		return nil, errors.New("role: must be a role, such as button")
	}
	name, err := json.Marshal(in.Name)
	if err != nil {
		return nil, err
	}
	return c.verified(in.where, "internal:role="+in.Role+"[name="+string(name)+"i] >> nth=0", fmt.Sprintf("the %s %q", in.Role, in.Name))
}

func (c *call) verifyText(in verifyTextArgs) (*answer, error) {
	if in.Text == "" {
		return nil, errors.New("text: is required")
	}
	return c.verified(in.where, textSelector(in.Text), fmt.Sprintf("the text %q", in.Text))
}

func (c *call) verifyList(in verifyListArgs) (*answer, error) {
	_, t, err := c.readableAt(in.where)
	if err != nil {
		return nil, err
	}
	t.Timeout = verifyTime
	text, err := t.Text(c.ctx, selectorOf(in.Target))
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, item := range in.Items {
		if !strings.Contains(text, item) {
			missing = append(missing, fmt.Sprintf("%q", item))
		}
	}
	if len(missing) > 0 {
		shown, _ := clip(text, maxError)
		return nil, fmt.Errorf("it has not %s. It shows: %s", strings.Join(missing, ", "), shown)
	}
	return say("It has all %d.", len(in.Items)), nil
}

func (c *call) verifyValue(in verifyValueArgs) (*answer, error) {
	_, t, err := c.readableAt(in.where)
	if err != nil {
		return nil, err
	}
	operation := "frame.inputValue"
	if in.Type == "checkbox" || in.Type == "radio" {
		operation = "frame.isChecked"
	}
	var answer struct{ Value any }
	with := params{"frame": t.names.Frame, "selector": selectorOf(in.Target), "strict": true, "timeout": verifyTime.Milliseconds()}
	if err := t.run(c.ctx, operation, with, &answer); err != nil {
		return nil, err
	}
	if got := fmt.Sprint(answer.Value); got != in.Value {
		shown, _ := clip(c.hide(got), maxError)
		return nil, fmt.Errorf("the value is %q, not %q", shown, in.Value)
	}
	return say("The value is %q.", in.Value), nil
}

func (c *call) locator(in locatorArgs) (*answer, error) {
	_, t, err := c.readableAt(in.where)
	if err != nil {
		return nil, err
	}
	var found struct{ Text string }
	with := params{"frame": t.names.Frame, "selector": selectorOf(in.Target), "strict": true, "timeout": verifyTime.Milliseconds()}
	if err := t.run(c.ctx, "frame.normalize", with, &found); err != nil {
		return nil, err
	}
	return say("page.%s", found.Text), nil
}
