package automation

import (
	"context"

	"takeover/browser"
)

// workerOperations are the operations of this file.
var workerOperations = table{
	"worker.evaluate":       op(true, opWorkerEvaluate), // {worker,expression,isFunction,arg}
	"worker.evaluateHandle": op(true, opWorkerEvaluateHandle),
}

// workerInit describes a worker to a client.
type workerInit struct {
	ID      string `json:"id"`
	Page    string `json:"page,omitempty"` // empty for a service worker
	Context string `json:"context"`
	URL     string `json:"url"`
}

func (c *Client) describeWorker(w *browser.Worker) workerInit {
	init := workerInit{ID: c.idOf("worker", w), Context: c.idOf("context", w.Context()), URL: w.URL()}
	if w.Page() != nil {
		init.Page = c.idOf("page", w.Page())
	}
	return init
}

// describeWorkers describes the existing workers.
func (c *Client) describeWorkers(pages []*browser.Page) []workerInit {
	list := []workerInit{}
	for _, p := range pages {
		for _, w := range p.Workers() {
			list = append(list, c.describeWorker(w))
		}
	}
	for _, w := range c.options.Context.ServiceWorkers() {
		list = append(list, c.describeWorker(w))
	}
	return list
}

type workerExpression struct {
	Worker string `json:"worker"`
	expression
}

func (c *Client) workerWorld(ctx context.Context, id string) (*browser.World, error) {
	w, err := lookup[*browser.Worker](c, "worker", id)
	if err != nil {
		return nil, &Error{Name: nameTargetClosed, Message: textTargetClosed}
	}
	return w.World(ctx)
}

func opWorkerEvaluate(ctx context.Context, c *Client, p *workerExpression) (any, error) {
	w, err := c.workerWorld(ctx, p.Worker)
	if err != nil {
		return nil, err
	}
	return evaluated(c.evaluate(ctx, w, &p.expression, true))
}

func opWorkerEvaluateHandle(ctx context.Context, c *Client, p *workerExpression) (any, error) {
	w, err := c.workerWorld(ctx, p.Worker)
	if err != nil {
		return nil, err
	}
	return c.evaluateKept(ctx, w, &p.expression)
}
