// Package jsondoc is what the drivers "exec" and "http" have in common: a query is a path into a
// JSON document, and says which numbers of it are series, with which labels.
//
//	.queues[0].length
//	.queues[*]{queue=.name, @time=.updated}.length
//
// The language is small on purpose: it has no functions, no conditions and no wildcards but [*], and
// what is not there is an error, never a gap in a sum.
package jsondoc

import (
	"fmt"
	"strconv"
	"strings"
)

// Path is a parsed query.
type Path struct {
	text  string
	steps []step
}

// step goes from one value to those below it, or names labels of the value.
type step struct {
	kind   stepKind
	member string // of an object
	index  int    // of an array; from its end if negative
	labels []label
}

type stepKind uint8

const (
	toMember stepKind = iota
	toIndex
	toAll
	toLabels
)

// label is an entry between braces: its value is at path, seen from where the braces stand, or the
// name or number of the element that [*] has gone to.
type label struct {
	name string
	key  bool
	path []step
}

// The words that begin with @: timeLabel makes the value the time of the sample, keyWord stands for
// the name or number of an element.
const (
	timeLabel = "@time"
	keyWord   = "@key"
)

// HasTime tells whether the samples have times of their own.
func (p *Path) HasTime() bool {
	for _, s := range p.steps {
		for _, l := range s.labels {
			if l.name == timeLabel {
				return true
			}
		}
	}
	return false
}

// Parse reads a path. Its errors say where it is none.
func Parse(text string) (*Path, error) {
	p := parser{text: text}
	p.space()
	if p.at == len(text) {
		return nil, fmt.Errorf(`is empty, must be a path such as ".queue.length"`)
	}
	steps, err := p.steps(false)
	if err == nil && p.at < len(text) {
		err = p.errorf("a step such as .name, [0] or [*]")
	}
	if err == nil {
		err = distinct(steps)
	}
	if err != nil {
		return nil, err
	}
	return &Path{text: text, steps: steps}, nil
}

// distinct makes sure that no label is given twice.
func distinct(steps []step) error {
	seen := map[string]bool{}
	for _, s := range steps {
		for _, l := range s.labels {
			if seen[l.name] {
				return fmt.Errorf("has the label %q twice", l.name)
			}
			seen[l.name] = true
		}
	}
	return nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) errorf(want string) error {
	if p.at >= len(p.text) {
		return fmt.Errorf("ends where %s must stand", want)
	}
	return fmt.Errorf("has %s at position %d, where %s must stand", strconv.Quote(p.text[p.at:min(len(p.text), p.at+8)]), p.at+1, want)
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.ContainsRune(" \t\r\n", rune(p.text[p.at])) {
		p.at++
	}
}

// take goes past a word, if it stands here.
func (p *parser) take(word string) bool {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

// steps reads a path, within braces one that leads to a single value.
func (p *parser) steps(single bool) ([]step, error) {
	steps, all := []step{}, false
	if p.take(".") { // the document itself, or the first name
		if s, ok := p.name(); ok {
			steps = append(steps, step{kind: toMember, member: s})
		} else if !p.ends(single) && !p.before("[") && !p.before("{") {
			return nil, p.errorf("a name")
		}
	} else if !p.before("[") && !p.before("{") {
		return nil, p.errorf("a full stop")
	}
	for !p.ends(single) {
		var s step
		var err error
		switch {
		case p.take("."):
			s, err = p.member()
		case p.take("["):
			s, err = p.element()
		case !single && p.take("{"):
			s, err = p.braces(all)
		default:
			return nil, p.errorf("a step such as .name, [0] or [*]")
		}
		if err == nil && s.kind == toAll && single {
			err = fmt.Errorf("has [*] within braces, where one value must be meant")
		}
		if err != nil {
			return nil, err
		}
		all = all || s.kind == toAll
		steps = append(steps, s)
	}
	return steps, nil
}

func (p *parser) before(word string) bool { return strings.HasPrefix(p.text[p.at:], word) }

// ends tells whether the path is over. Within braces a comma or a brace ends it.
func (p *parser) ends(single bool) bool {
	before := p.at
	p.space()
	if p.at == len(p.text) || single && (p.before(",") || p.before("}")) {
		return true
	}
	p.at = before
	return false
}

func (p *parser) member() (step, error) {
	name, ok := p.name()
	if !ok {
		return step{}, p.errorf("a name")
	}
	return step{kind: toMember, member: name}, nil
}

// name reads a word of letters, digits, _ and -.
func (p *parser) name() (string, bool) {
	begin := p.at
	for p.at < len(p.text) && nameByte(p.text[p.at]) {
		p.at++
	}
	return p.text[begin:p.at], p.at > begin
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// element reads what is behind an opening bracket: *, a number, or a name in quotes.
func (p *parser) element() (step, error) {
	if p.take("*]") {
		return step{kind: toAll}, nil
	}
	const want = `*, a number or a name in double quotes`
	if p.before(`"`) {
		quoted, err := strconv.QuotedPrefix(p.text[p.at:])
		if err != nil {
			return step{}, p.errorf(want)
		}
		p.at += len(quoted)
		name, err := strconv.Unquote(quoted)
		if err != nil || !p.take("]") {
			return step{}, p.errorf("a closing bracket")
		}
		return step{kind: toMember, member: name}, nil
	}
	digits, _, found := strings.Cut(p.text[p.at:], "]")
	index, err := strconv.ParseInt(digits, 10, 32)
	if !found || err != nil {
		return step{}, p.errorf(want)
	}
	p.at += len(digits) + 1
	return step{kind: toIndex, index: int(index)}, nil
}

// braces reads the labels behind an opening brace.
func (p *parser) braces(all bool) (step, error) {
	s := step{kind: toLabels}
	for {
		p.space()
		l, err := p.label(all)
		if err != nil {
			return step{}, err
		}
		s.labels = append(s.labels, l)
		p.space()
		if p.take("}") {
			return s, nil
		}
		if !p.take(",") {
			return step{}, p.errorf("a comma or a closing brace")
		}
	}
}

func (p *parser) label(all bool) (label, error) {
	var l label
	if p.take(timeLabel) {
		l.name = timeLabel
	} else if name, ok := p.name(); ok && !strings.ContainsRune(name, '-') && (name[0] < '0' || name[0] > '9') {
		l.name = name
	} else {
		return l, p.errorf("the name of a label")
	}
	p.space()
	if !p.take("=") {
		return l, p.errorf("an equals sign")
	}
	p.space()
	if p.before(keyWord) && !all {
		return l, fmt.Errorf("has %s without a [*] before, whose elements it would name", keyWord)
	}
	if p.take(keyWord) {
		l.key = true
		return l, nil
	}
	var err error
	l.path, err = p.steps(true)
	return l, err
}
