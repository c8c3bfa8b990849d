package command

import (
	"bytes"
	"strings"
	"unicode"
)

// limited keeps what is written up to a limit, and tells when that is passed.
type limited struct {
	most     int64
	buffer   bytes.Buffer
	full     bool
	overflow chan<- struct{}
}

// Write takes everything, so that the writer is not blocked until it is killed.
func (l *limited) Write(p []byte) (int, error) {
	if l.full {
		return len(p), nil
	}
	if int64(l.buffer.Len()+len(p)) > l.most {
		l.full = true
		close(l.overflow)
		return len(p), nil
	}
	return l.buffer.Write(p)
}

// tail keeps the end of what is written.
type tail struct{ text []byte }

const tailBytes = 4 << 10

// Write takes everything.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if n := len(t.text) - tailBytes; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return Line(lines[len(lines)-1])
}

// Line makes a text of somebody else fit into one line of an error: no control characters, no more
// than 300 bytes.
func Line(text string) string {
	const longest = 300
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
