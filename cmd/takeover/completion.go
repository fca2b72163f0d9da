package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints a shell's completion script.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish. For bash: source <(takeover completion bash). For zsh the same, after compinit. For fish: takeover completion fish | source"`
}

// Run prints the completion script.
func (c *completionCommand) Run(parsed *kong.Context, std streams) error {
	nodes := commandsOf(parsed.Model.Node)
	switch c.Shell {
	case "fish":
		return fish(std.out, nodes)
	case "zsh":
		return posix(std.out, nodes, zshParts)
	}
	return posix(std.out, nodes, bashParts)
}

// subcommand is a command with the words that may follow it.
type subcommand struct {
	path  string   // separated by spaces; empty for the program itself
	names []string // names of its subcommands
	flags []*kong.Flag
	helps map[string]string // help of the subcommands
}

// commandsOf returns a command and all commands below it.
func commandsOf(n *kong.Node) []subcommand {
	one := subcommand{helps: map[string]string{}}
	for p := n; p.Parent != nil; p = p.Parent {
		one.path = strings.TrimSpace(p.Name + " " + one.path)
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			one.flags = append(one.flags, f)
		}
	}
	all := []subcommand{}
	for _, child := range n.Children {
		if !child.Hidden {
			one.names = append(one.names, child.Name)
			one.helps[child.Name] = firstSentence(child.Help)
			all = append(all, commandsOf(child)...)
		}
	}
	return append([]subcommand{one}, all...)
}

func firstSentence(text string) string {
	head, _, _ := strings.Cut(text, ". ")
	head, _, _ = strings.Cut(head, ": ")
	return strings.TrimSuffix(head, ".")
}

func (c subcommand) flagNames(all []subcommand) []string {
	var names []string
	for _, f := range c.flags {
		names = append(names, "--"+f.Name)
	}
	if c.path != "" {
		for _, f := range all[0].flags {
			names = append(names, "--"+f.Name)
		}
	}
	return names
}

// shellParts are the parts in which the scripts for bash and zsh differ.
type shellParts struct{ head, before, flags, names, tail string }

var bashParts = shellParts{
	head:   "_takeover() {\n  local cur=${COMP_WORDS[COMP_CWORD]} at= word\n",
	before: `"${COMP_WORDS[@]:1:COMP_CWORD-1}"`,
	flags:  `COMPREPLY=($(compgen -W '%s' -- "$cur"))`,
	names:  `COMPREPLY=($(compgen -W '%s' -- "$cur"))`,
	tail:   "}\ncomplete -o default -F _takeover takeover\n",
}

var zshParts = shellParts{
	head:   "#compdef takeover\n_takeover() {\n  local cur=${words[CURRENT]} at= word\n",
	before: `${words[2,CURRENT-1]}`,
	flags:  `compadd -- %s`,
	names:  `compadd -- %s`,
	tail:   "}\ncompdef _takeover takeover\n",
}

// posix prints a function that finds the command among the words before the
// cursor, and offers the words that may follow. If there are none, it offers
// files.
func posix(w io.Writer, all []subcommand, p shellParts) error {
	var b strings.Builder
	b.WriteString(p.head)
	fmt.Fprintf(&b, "  for word in %s; do\n    case \"$at/$word\" in\n", p.before)
	for _, c := range all {
		for _, name := range c.names {
			at := strings.TrimSpace(c.path + " " + name)
			fmt.Fprintf(&b, "      '%s/%s') at='%s' ;;\n", c.path, name, at)
		}
	}
	b.WriteString("    esac\n  done\n  case \"$at\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    '%s')\n      if [[ $cur == -* ]]; then %s\n", c.path, fmt.Sprintf(p.flags, strings.Join(c.flagNames(all), " ")))
		if len(c.names) > 0 {
			fmt.Fprintf(&b, "      else %s\n", fmt.Sprintf(p.names, strings.Join(c.names, " ")))
		} else if strings.HasPrefix(p.head, "#compdef") {
			b.WriteString("      else _files\n")
		}
		b.WriteString("      fi ;;\n")
	}
	b.WriteString("  esac\n" + p.tail)
	_, err := io.WriteString(w, b.String())
	return err
}

// fish prints a line for each command and flag.
func fish(w io.Writer, all []subcommand) error {
	var b strings.Builder
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	for _, c := range all {
		condition := "-n __fish_use_subcommand"
		if c.path != "" {
			condition = "-n " + quote("__fish_seen_subcommand_from "+c.path[strings.LastIndexByte(c.path, ' ')+1:])
		}
		for _, name := range c.names {
			fmt.Fprintf(&b, "complete -c takeover -f %s -a %s -d %s\n", condition, name, quote(c.helps[name]))
		}
		if c.path == "" {
			condition = ""
		}
		for _, f := range c.flags {
			value := ""
			if !f.IsBool() {
				value = "-r "
			}
			fmt.Fprintf(&b, "complete -c takeover %s -l %s %s-d %s\n", condition, f.Name, value, quote(firstSentence(f.Help)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
