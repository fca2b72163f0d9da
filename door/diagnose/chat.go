package diagnose

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"takeover/door/actions"
)

const (
	// chatTimeout is how long one answer of a model may take.
	chatTimeout = time.Minute
	// chatTries is how often a model is asked again whose answer cannot be used.
	chatTries = 3
	// maxChatAnswer bounds an answer, in bytes, and maxShown what a model is shown of
	// a list.
	maxChatAnswer = 1 << 20
	maxShown      = 50
)

// Chat is an analyst that asks a model by the chat completions of an
// OpenAI-compatible server. The rules' findings are given to the model; its
// instructions are checked like anybody's.
type Chat struct {
	URL    string       // of the API, such as https://api.openai.com/v1, or of chat/completions itself
	Key    string       // empty for none
	Model  string       //
	Client *http.Client // default: one without a time of its own
}

// chatPrompt tells a model what it is asked, and how to answer.
const chatPrompt = `You diagnose a problem of a web page. You see what the page logged, requested and measured after each action, and what can be clicked.
Answer with one JSON object and nothing else. Either the next action:
{"action": {"type": "click", "selector": "…"}, "why": "…"}
with one of: {"type":"navigate","url"}, {"type":"click","selector"}, {"type":"type","selector","text"}, {"type":"scroll","direction"}, {"type":"screenshot"};
or, when you know enough:
{"findings": [{"rule": "short-name", "severity": "error|warning|info", "title": "…", "detail": "…", "suggestion": "…", "location": "file:line:column", "events": [numbers of the events that show it]}]}`

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Next asks the model.
func (a Chat) Next(ctx context.Context, c *Case) (Verdict, error) {
	rules := judge(ctx, c)
	if c.StepsLeft == 0 {
		return Verdict{Findings: rules}, nil
	}
	shown, err := json.Marshal(shownOf(c, rules))
	if err != nil {
		return Verdict{}, err
	}
	messages := []chatMessage{{"system", chatPrompt}, {"user", string(shown)}}
	for try := 1; ; try++ {
		said, err := a.ask(ctx, messages)
		if err != nil {
			return Verdict{Findings: rules}, err
		}
		verdict, err := readAnswer(said)
		switch {
		case err == nil && verdict.Action == nil:
			return verdict, nil
		case err == nil:
			verdict.Findings = rules
			return verdict, nil
		case try == chatTries:
			return Verdict{Findings: rules}, fmt.Errorf("the model gives no instruction: %w", err)
		}
		messages = append(messages, chatMessage{"assistant", said}, chatMessage{"user", "That cannot be used: " + err.Error()})
	}
}

// shownOf returns what a model sees of a case.
func shownOf(c *Case, rules []Finding) map[string]any {
	last := c.Steps[len(c.Steps)-1].Data
	steps := make([]map[string]any, len(c.Steps))
	for i, s := range c.Steps {
		steps[i] = map[string]any{"action": s.Action, "success": s.Data.Success, "error": s.Data.Error}
	}
	return map[string]any{
		"problem": c.Problem, "url": c.URL, "steps": steps, "stepsLeft": c.StepsLeft, "page": map[string]any{"url": c.Page.URL, "title": c.Page.Title, "clickable": first(c.Page.Clickable)},
		"logs": first(last.Logs), "requests": first(last.NetworkEvents), "metrics": last.Metrics, "rulesFound": first(rules),
	}
}

func first[T any](list []T) []T { return list[:min(len(list), maxShown)] }

// ask sends a conversation, and returns the model's answer.
func (a Chat) ask(ctx context.Context, messages []chatMessage) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, chatTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{"model": a.Model, "messages": messages, "response_format": map[string]string{"type": "json_object"}})
	if err != nil {
		return "", err
	}
	url := strings.TrimSuffix(a.URL, "/")
	if !strings.HasSuffix(url, "/chat/completions") {
		url += "/chat/completions"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if a.Key != "" {
		req.Header.Set("Authorization", "Bearer "+a.Key)
	}
	client := a.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxChatAnswer+1))
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("the model's server answers %s", resp.Status)
	case len(raw) > maxChatAnswer:
		return "", errors.New("the model's answer is too large")
	}
	var answer struct {
		Choices []struct{ Message chatMessage }
	}
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Choices) == 0 {
		return "", errors.New("the model's server does not answer with a chat completion")
	}
	return answer.Choices[0].Message.Content, nil
}

// readAnswer reads and checks what a model said.
func readAnswer(said string) (Verdict, error) {
	var answer struct {
		Action   json.RawMessage `json:"action"`
		Why      string          `json:"why"`
		Findings []Finding       `json:"findings"`
	}
	if err := json.Unmarshal([]byte(said), &answer); err != nil {
		return Verdict{}, fmt.Errorf("it is not the JSON that was asked for: %w", err)
	}
	if len(answer.Action) == 0 || string(answer.Action) == "null" {
		if answer.Findings == nil {
			return Verdict{}, errors.New("it has neither an action nor findings")
		}
		for i := range answer.Findings {
			f := &answer.Findings[i]
			if f.Title == "" {
				return Verdict{}, fmt.Errorf("findings[%d].title: is required", i)
			}
			if f.Severity != Error && f.Severity != Info {
				f.Severity = Warning
			}
		}
		return Verdict{Findings: answer.Findings}, nil
	}
	list, err := actions.ParseJSON(answer.Action)
	if err != nil {
		return Verdict{}, err
	}
	switch {
	case len(list) != 1:
		return Verdict{}, errors.New("it has more than one action")
	case list[0].Type == actions.Start || list[0].Type == actions.Stop || list[0].Type == actions.Diagnose:
		return Verdict{}, fmt.Errorf("%s is not an action of a diagnosis", list[0].Type)
	}
	return Verdict{Action: &list[0], Why: answer.Why}, nil
}
