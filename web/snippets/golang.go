package snippets

import (
	"fmt"
	"slices"
	"strings"
)

// golang writes a program in Go. Those that open a socket need the module
// github.com/coder/websocket.
func golang(c Call) string {
	if c.Answer == Socket {
		return goSocket(c)
	}
	packages := []string{"fmt", "io", "log", "net/http"}
	var main strings.Builder
	body := "nil"
	if c.Body != "" {
		packages = append(packages, "strings")
		body = "body"
		fmt.Fprintf(&main, "\tbody := strings.NewReader(%s)\n", goText(indented(lines(c.Body, c.isJSON()), "\t")))
	}
	if len(c.variables()) > 0 {
		packages = append(packages, "os")
	}
	fmt.Fprintf(&main, "\trequest, err := http.NewRequest(\"%s\", %s, %s)\n", c.Method, goSum(c.address(mark)), body)
	main.WriteString("\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n")
	for _, h := range c.headers() {
		value := h.value
		if h.variable != "" {
			value += mark(h.variable)
		}
		fmt.Fprintf(&main, "\trequest.Header.Set(\"%s\", %s)\n", h.name, goSum(value))
	}
	main.WriteString("\tresponse, err := http.DefaultClient.Do(request)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer response.Body.Close()\n")
	main.WriteString("\tif response.StatusCode >= 400 {\n\t\ttext, _ := io.ReadAll(response.Body)\n\t\tlog.Fatalf(\"%s: %s\", response.Status, text)\n\t}\n")
	switch c.Answer {
	case File:
		packages = append(slices.DeleteFunc(packages, func(p string) bool { return p == "fmt" }), "os")
		fmt.Fprintf(&main, "\tfile, err := os.Create(\"%s\")\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer file.Close()\n", c.File)
		main.WriteString("\tif _, err := io.Copy(file, response.Body); err != nil {\n\t\tlog.Fatal(err)\n\t}\n")
	case Empty:
		main.WriteString("\tfmt.Println(response.Status)\n")
	default:
		packages = append(slices.DeleteFunc(packages, func(p string) bool { return p == "fmt" }), "os")
		main.WriteString("\tif _, err := io.Copy(os.Stdout, response.Body); err != nil {\n\t\tlog.Fatal(err)\n\t}\n")
	}
	return goProgram(packages, main.String())
}

// goSocket writes a program that opens a socket, sends a message and prints the
// first one that comes.
func goSocket(c Call) string {
	options := "nil"
	if c.Subprotocol != "" {
		options = `&websocket.DialOptions{Subprotocols: []string{"` + c.Subprotocol + `"}}`
	}
	var main strings.Builder
	fmt.Fprintf(&main, "\tctx := context.Background()\n\tsocket, _, err := websocket.Dial(ctx, %s, %s)\n", goSum(c.socketAddress(mark)), options)
	main.WriteString("\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer socket.CloseNow()\n")
	fmt.Fprintf(&main, "\tif err := socket.Write(ctx, websocket.MessageText, []byte(%s)); err != nil {\n\t\tlog.Fatal(err)\n\t}\n", goText(c.Body))
	main.WriteString("\t_, message, err := socket.Read(ctx)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(string(message))\n")
	return goProgram([]string{"context", "fmt", "log", "os", "", "github.com/coder/websocket"}, main.String())
}

// goProgram writes a program with its imports. After an empty name come those of
// other modules.
func goProgram(packages []string, main string) string {
	own, others := packages, []string(nil)
	if at := slices.Index(packages, ""); at >= 0 {
		own, others = packages[:at], packages[at+1:]
	}
	own = slices.Compact(slices.Sorted(slices.Values(own)))
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, p := range own {
		b.WriteString("\t\"" + p + "\"\n")
	}
	if len(others) > 0 {
		b.WriteString("\n\t\"" + strings.Join(others, "\"\n\t\"") + "\"\n")
	}
	b.WriteString(")\n\nfunc main() {\n" + main + "}")
	return b.String()
}

// mark marks a variable in a text for goSum.
func mark(variable string) string { return "{" + variable + "}" }

// goSum writes a text with marked variables as a sum of texts.
func goSum(text string) string {
	var parts []string
	for _, p := range pieces(text) {
		if p.variable != "" {
			parts = append(parts, `os.Getenv("`+p.variable+`")`)
		} else {
			parts = append(parts, `"`+p.text+`"`)
		}
	}
	return strings.Join(parts, "+")
}

// goText writes a text as a raw string if it can be one.
func goText(text string) string {
	if strings.Contains(text, "`") {
		return fmt.Sprintf("%q", text)
	}
	return "`" + text + "`"
}
