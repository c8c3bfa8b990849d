package config

import (
	"strconv"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// walker goes through a TOML document and notes the line of every key. The TOML library decodes
// and checks the same text; the walker only has to find its way.
type walker struct {
	text   string
	at     int
	line   int
	lines  *lines
	arrays map[string]int // arrays of tables by path: how many so far
}

const endOfText = 0

func (w *walker) peek() byte {
	if w.at >= len(w.text) {
		return endOfText
	}
	return w.text[w.at]
}

// skip advances n bytes, counting lines.
func (w *walker) skip(n int) {
	n = min(n, len(w.text)-w.at)
	w.line += strings.Count(w.text[w.at:w.at+n], "\n")
	w.at += n
}

// next advances over a byte if it is the wanted one.
func (w *walker) next(wanted byte) bool {
	if w.at >= len(w.text) || w.text[w.at] != wanted {
		return false
	}
	w.skip(1)
	return true
}

// space skips blanks, and line ends and comments too if they may stand here.
func (w *walker) space(lineEnds bool) {
	for w.at < len(w.text) {
		switch c := w.peek(); {
		case c == ' ' || c == '\t':
			w.skip(1)
		case lineEnds && (c == '\n' || c == '\r'):
			w.skip(1)
		case lineEnds && c == '#':
			w.skipTo("\n")
		default:
			return
		}
	}
}

// skipTo advances to the next of the bytes, or the end.
func (w *walker) skipTo(bytes string) {
	n := strings.IndexAny(w.text[w.at:], bytes)
	if n < 0 {
		n = len(w.text) - w.at
	}
	w.skip(n)
}

func (w *walker) note(path string) {
	if _, known := w.lines.at[path]; !known {
		w.lines.at[path] = w.line
	}
}

func (w *walker) document() {
	table := ""
	for {
		w.space(true)
		ok := false
		switch {
		case w.at >= len(w.text):
			return
		case w.peek() == '[':
			table, ok = w.header()
		default:
			ok = w.keyValue(table)
		}
		if !ok {
			return
		}
	}
}

// header reads [a.b] or [[a.b]] and returns the path of the table that begins.
func (w *walker) header() (string, bool) {
	w.skip(1)
	array := w.next('[')
	path := ""
	for {
		w.space(false)
		key, ok := w.key()
		if !ok {
			return "", false
		}
		path = options.JoinKey(path, options.Quote(key))
		w.note(path)
		w.space(false)
		if !w.next('.') {
			break
		}
		if n := w.arrays[path]; n > 0 {
			path = element(path, n-1)
		}
	}
	if array {
		n := w.arrays[path]
		w.arrays[path] = n + 1
		path = element(path, n)
		w.note(path)
		if !w.next(']') {
			return "", false
		}
	}
	return path, w.next(']')
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// keyValue reads `a.b = value` in the table at path.
func (w *walker) keyValue(path string) bool {
	for {
		w.space(false)
		key, ok := w.key()
		if !ok {
			return false
		}
		path = options.JoinKey(path, options.Quote(key))
		w.note(path)
		w.space(false)
		if !w.next('.') {
			break
		}
	}
	return w.next('=') && w.value(path)
}

// key reads one part of a dotted key.
func (w *walker) key() (string, bool) {
	switch w.peek() {
	case '\'':
		w.skip(1)
		begin := w.at
		w.skipTo("'\n")
		return w.text[begin:w.at], w.next('\'')
	case '"':
		begin := w.at
		if !w.quoted() {
			return "", false
		}
		return unquote(w.text[begin+1 : w.at-1]), true
	}
	begin := w.at
	w.skipTo(" \t\r\n.=[]{}\"'#,")
	return w.text[begin:w.at], w.at > begin
}

func (w *walker) value(path string) bool {
	w.space(false)
	switch w.peek() {
	case endOfText:
		return false
	case '"', '\'':
		return w.quoted()
	case '[':
		return w.array(path)
	case '{':
		return w.inlineTable(path)
	}
	w.skipTo(",]}#\r\n")
	return true
}

func (w *walker) array(path string) bool {
	w.skip(1)
	for i := 0; ; i++ {
		w.space(true)
		if w.next(']') {
			return true
		}
		p := element(path, i)
		w.note(p)
		if !w.value(p) {
			return false
		}
		w.space(true)
		if !w.next(',') {
			return w.next(']')
		}
	}
}

func (w *walker) inlineTable(path string) bool {
	w.skip(1)
	for {
		w.space(true)
		if w.next('}') {
			return true
		}
		if !w.keyValue(path) {
			return false
		}
		w.space(true)
		if !w.next(',') {
			return w.next('}')
		}
	}
}

// quoted skips a string of any of the four kinds.
func (w *walker) quoted() bool {
	quote := w.text[w.at : w.at+1]
	long := strings.Repeat(quote, 3)
	end := quote
	if strings.HasPrefix(w.text[w.at:], long) {
		end = long
	}
	w.skip(len(end))
	for w.at < len(w.text) {
		switch {
		case quote == `"` && w.peek() == '\\':
			w.skip(2)
		case !strings.HasPrefix(w.text[w.at:], end):
			w.skip(1)
		default:
			w.skip(len(end))
			for range 2 { // up to two quotes may stand before the three that end the string
				if end == long {
					w.next(quote[0])
				}
			}
			return true
		}
	}
	return false
}

// unquote replaces the escapes of a basic string.
func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
		if simple := strings.IndexByte(`btnfre"\`, s[i]); simple >= 0 {
			b.WriteByte("\b\t\n\f\r\x1b\"\\"[simple])
		} else if n, err := strconv.ParseUint(s[i+1:min(i+1+digits, len(s))], 16, 32); err == nil {
			b.WriteRune(rune(n))
			i += digits
		}
	}
	return b.String()
}
