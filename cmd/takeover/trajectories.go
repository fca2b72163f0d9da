package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"takeover/text"
	"takeover/trajectory"
)

type (
	trajectoriesCommand struct {
		List   trajectoriesList   `cmd:"" aliases:"ls" default:"withargs" help:"List the bundles of recordings, newest first."`
		Show   trajectoriesShow   `cmd:"" help:"Show what a bundle contains."`
		Zip    trajectoriesZip    `cmd:"" help:"Write a bundle as a zip file."`
		Remove trajectoriesRemove `cmd:"" aliases:"rm,delete" help:"Remove bundles."`
	}
	trajectoriesList struct{}
	trajectoriesShow struct {
		ID string `arg:"" help:"The bundle's id."`
	}
	trajectoriesZip struct {
		ID        string `arg:"" help:"The bundle's id."`
		Output    string `short:"o" help:"Where to write it; only you can read the file. - is standard output. Default: the id with .zip." placeholder:"FILE"`
		Unscanned bool   `help:"Also a bundle that nobody has searched for secrets, because the server ended while it recorded."`
	}
	trajectoriesRemove struct {
		IDs []string `arg:"" name:"id" help:"The bundles' ids."`
	}
)

func trajectoryPath(id string) string { return "/v1/trajectories/" + url.PathEscape(id) }

// trajectories lists all bundles.
func (c *client) trajectories(ctx context.Context) ([]trajectory.BundleInfo, error) {
	all := []trajectory.BundleInfo{}
	for cursor := ""; ; {
		var page struct {
			Trajectories []trajectory.BundleInfo `json:"trajectories"`
			Next         *string                 `json:"next"`
		}
		if err := c.call(ctx, "GET", "/v1/trajectories?limit=1000&cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Trajectories...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
}

// Run lists bundles.
func (*trajectoriesList) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	all, err := api.trajectories(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(std.err, "No trajectories. POST /v1/sessions/:id/recording with trajectoryBundle begins one.")
		return nil
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTARTED\tCALLS\tFAILED\tCONTRACTS\tSECRETS\tSIZE\tSESSION")
	for _, one := range all {
		calls, failed, contracts, secrets := "–", "–", "–", "recording"
		if r := one.Report; r != nil {
			calls, failed, secrets = fmt.Sprint(r.ToolCalls), fmt.Sprint(r.Failures), string(r.LeakScan.State)
			contracts = fmt.Sprintf("%d/%d", r.Contracts.Pass, r.Contracts.Pass+r.Contracts.Fail+r.Contracts.Inconclusive)
		}
		fmt.Fprintf(w, "%s\t%s ago\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, age(one.StartedAt), calls, failed, contracts, secrets, text.Bytes(one.Bytes), one.SessionID)
	}
	return w.Flush()
}

// Run shows a bundle.
func (t *trajectoriesShow) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var one trajectory.BundleInfo
	if err := api.call(ctx, "GET", trajectoryPath(t.ID), nil, &one); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, one)
	}
	fmt.Fprintf(std.out, "%s, of session %s, began %s, %s\n", one.ID, one.SessionID, one.StartedAt.Format(time.RFC3339), text.Bytes(one.Bytes))
	r := one.Report
	if r == nil {
		fmt.Fprintln(std.out, "It is still being recorded.")
		return nil
	}
	fmt.Fprintf(std.out, "calls: %d, failed: %d\n", r.ToolCalls, r.Failures)
	fmt.Fprintf(std.out, "contracts: %d passed, %d failed, %d inconclusive\n", r.Contracts.Pass, r.Contracts.Fail, r.Contracts.Inconclusive)
	fmt.Fprintf(std.out, "hints: %d stalling, %d stuck\n", r.Progress.Stalling, r.Progress.Stuck)
	fmt.Fprintf(std.out, "secrets: %s %s\n", r.LeakScan.State, printable(strings.Join(r.LeakScan.Files, ", ")))
	for _, why := range r.Recovery {
		fmt.Fprintf(std.out, "missing: %s\n", printable(why))
	}
	for _, f := range one.Files {
		fmt.Fprintf(std.out, "  %s  %s\n", f.Path, text.Bytes(int64(f.Bytes)))
	}
	return nil
}

// Run writes a bundle as a zip file.
func (t *trajectoriesZip) Run(ctx context.Context, c *cli, std streams) (err error) {
	api, err := c.client()
	if err != nil {
		return err
	}
	address := trajectoryPath(t.ID) + "/bundle.zip"
	if t.Unscanned {
		address += "?unscanned=true"
	}
	resp, err := api.do(ctx, "GET", address, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if t.Output == "-" {
		_, err = io.Copy(std.out, resp.Body)
		return err
	}
	name := t.Output
	if name == "" {
		name = t.ID + ".zip"
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := io.Copy(file, resp.Body)
	if err != nil {
		return err
	}
	return c.told(std, map[string]any{"file": name, "bytes": n}, fmt.Sprintf("wrote %s, %s", name, text.Bytes(n)))
}

// Run removes bundles.
func (t *trajectoriesRemove) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var errs []error
	removed := []string{}
	for _, id := range t.IDs {
		if err := api.call(ctx, "DELETE", trajectoryPath(id), nil, nil); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
			continue
		}
		removed = append(removed, id)
	}
	if len(removed) > 0 || c.JSON {
		errs = append(errs, c.told(std, map[string]any{"removed": removed}, "removed "+strings.Join(removed, ", ")))
	}
	return errors.Join(errs...)
}
