package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
)

// syntaxProblem says what keeps a file from being TOML: in the words of the mistakes that are made
// most, else in those of the library.
func syntaxProblem(path, text string, err error) Problem {
	p := Problem{File: path, Line: 1, Message: err.Error()}
	if parse, ok := err.(toml.ParseError); ok {
		p.Line = max(1, parse.Position.Line)
		if strings.HasSuffix(parse.Message, `delimiter ']', but got '\n' instead`) {
			p.Line = max(1, p.Line-1) // the line that lacks it
		}
		p.Message = plainSyntax(parse.Message, text, p.Line)
	}
	p.Message = "cannot parse: " + strings.TrimSuffix(p.Message, ".")
	return p
}

func plainSyntax(message, text string, line int) string {
	if key, twice := strings.CutSuffix(message, "' has already been defined."); twice {
		return alreadyDefined(strings.TrimPrefix(key, "Key '"), text, line)
	}
	written := strings.Split(text, "\n")[min(line-1, strings.Count(text, "\n"))]
	if written = strings.TrimSpace(written); strings.HasPrefix(written, "{") {
		return "this must be TOML: key = value, with tables as [name]"
	}
	key, value, assigns := strings.Cut(written, "=")
	value = strings.TrimSpace(value)
	switch {
	case !assigns && strings.Contains(key, ":") && strings.Contains(message, "expected '.' or '='"):
		return `this must be TOML: key = value, not "key: value"`
	case strings.HasPrefix(written, "["):
		return "a header must be [name], or [[name]] for workloads and metrics"
	case message == "strings cannot contain newlines", strings.HasPrefix(message, `unexpected EOF; expected '"'`):
		return "the closing quote is missing"
	case !assigns:
		return lowerFirst(message)
	case value == "" || value[0] == '#':
		return "there is no value behind ="
	case strings.ContainsAny(value, "“”„‘’"):
		return `quotes must be straight: "…"`
	case strings.Contains(message, "expected value but found") && regexp.MustCompile(`\b(True|False|TRUE|FALSE|yes|no|on|off)\b`).MatchString(value):
		return "what is on or off is written as true or false"
	case strings.Contains(message, "expected value but found"), unquoted.MatchString(message):
		return `texts, and numbers with a unit, must stand in quotes: "…"`
	}
	return lowerFirst(message)
}

// unquoted fits what the library says where a text begins like a number, as 15s does.
var unquoted = regexp.MustCompile(`expected a top-level item to end with|expected a comma|expected a newline`)

// alreadyDefined says where a key stands first. The library's name of it lacks the indexes.
func alreadyDefined(key, text string, line int) string {
	first := 0
	for path, at := range indexLines(text).at {
		if at < line && index.ReplaceAllString(path, "") == key {
			first = max(first, at)
		}
	}
	if first == 0 {
		return fmt.Sprintf("key %q has already been defined", key)
	}
	return fmt.Sprintf("key %q has already been defined on line %d", key, first)
}

var index = regexp.MustCompile(`\[\d+\]`)

func lowerFirst(s string) string {
	for i, r := range s {
		return string(unicode.ToLower(r)) + s[i+len(string(r)):]
	}
	return s
}
