package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"takeover/web/views"
)

// docsMarkdown handles GET /docs.md.
func (s *Server) docsMarkdown(c echo.Context) error {
	d, err := s.described()
	if err != nil {
		return err
	}
	group, base := c.QueryParam("group"), s.baseURL(c.Request())
	var sections []*views.DocsSection
	for i, of := range docsSections {
		if group == of.id || group == "" && of.id != docsPages {
			sections = append(sections, d.reference.section(s.table, i, base))
		}
	}
	if len(sections) == 0 {
		return &failure{kind: kindNotFound, detail: "The API has no group of calls with this name."}
	}
	return c.Blob(http.StatusOK, mimeMarkdown, []byte(markdownOf(base, sections)))
}

// markdownOf writes sections of the reference as compact Markdown, for agents.
func markdownOf(base string, sections []*views.DocsSection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Takeover's API at %s\n\nJSON in and out. Send the key as `Authorization: Bearer KEY`. Durations are milliseconds, times ISO 8601. Errors are application/problem+json.\n", base)
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", section.Title, section.Does)
		for _, c := range section.Calls {
			markdownCall(&b, c)
		}
		for _, o := range section.Objects {
			fmt.Fprintf(&b, "\n### %s\n\n", o.Name)
			markdownFields(&b, o.Fields)
		}
		markdownMessages(&b, "Messages from the client", section.FromClient)
		markdownMessages(&b, "Messages from the server", section.FromServer)
	}
	return b.String()
}

// markdownCall writes a call with its fields, its answer and its first example.
func markdownCall(b *strings.Builder, c views.DocsCall) {
	fmt.Fprintf(b, "\n### %s %s\n\n%s (%s)\n", c.Method, c.Path, c.Does, c.Who)
	for _, in := range c.Inputs {
		fmt.Fprintf(b, "\n%s:\n\n", in.Title)
		markdownFields(b, in.Fields)
	}
	fmt.Fprintf(b, "\nReturns %d %s", c.Answer.Status, c.Answer.Form)
	for i, k := range c.Problems {
		if i == 0 {
			b.WriteString("\nErrors:")
		}
		fmt.Fprintf(b, " %d %s", k.Status, k.ID)
	}
	b.WriteByte('\n')
	if len(c.Examples) > 0 {
		fmt.Fprintf(b, "\n```\n%s\n```\n", c.Examples[0].Code)
	}
	if c.Answer.Example != "" {
		fmt.Fprintf(b, "\n```json\n%s\n```\n", c.Answer.Example)
	}
}

// markdownFields writes a list of fields with their types.
func markdownFields(b *strings.Builder, fields []views.DocsField) {
	for _, f := range fields {
		required := ""
		if f.Required {
			required = ", required"
		}
		fmt.Fprintf(b, "- `%s` (%s%s): %s", f.Name, f.Type, required, f.Does)
		if f.Bounds != "" {
			fmt.Fprintf(b, " [%s]", f.Bounds)
		}
		b.WriteByte('\n')
	}
}

// markdownMessages writes a list of messages of the viewer's socket.
func markdownMessages(b *strings.Builder, title string, messages []views.DocsMessage) {
	if len(messages) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", title)
	for _, m := range messages {
		fmt.Fprintf(b, "- `%s` `%s`: %s\n", m.Type, m.Fields, m.Does)
	}
}
