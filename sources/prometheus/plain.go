package prometheus

// isPlain tells whether body is, byte for byte, a vector as a Prometheus writes it when it has
// nothing to remark, every sample with its labels, a time and a value:
//
//	{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1.5,"2"]}]}}
//
// Such an answer, and that is nearly every one, needs none of the decoding by which checkSamples
// looks for holes. Everything else, be it right or wrong, is not plain: spaces, escapes, other
// orders, warnings, histograms.
func isPlain(body []byte) bool {
	p := plain{body}
	if !p.take(`{"status":"success","data":{"resultType":"vector","result":[`) {
		return false
	}
	if !p.take("]") {
		if !p.list(p.sample) || !p.take("]") {
			return false
		}
	}
	return p.take("}}") && len(p.rest) == 0
}

// plain is what is left to look at. Its methods go past what they are named after, and tell whether
// it was there.
type plain struct{ rest []byte }

func (p *plain) take(text string) bool {
	if len(p.rest) < len(text) || string(p.rest[:len(text)]) != text {
		return false
	}
	p.rest = p.rest[len(text):]
	return true
}

// list is one item or more, with commas.
func (p *plain) list(item func() bool) bool {
	for item() {
		if !p.take(",") {
			return true
		}
	}
	return false
}

func (p *plain) sample() bool {
	return p.take(`{"metric":{`) && (p.take("}") || p.list(p.label) && p.take("}")) &&
		p.take(`,"value":[`) && p.number() && p.take(",") && p.text() && p.take("]}")
}

func (p *plain) label() bool { return p.text() && p.take(":") && p.text() }

// text is a string without escapes, and without what must be escaped.
func (p *plain) text() bool {
	if !p.take(`"`) {
		return false
	}
	for i, c := range p.rest {
		if c == '"' {
			p.rest = p.rest[i+1:]
			return true
		}
		if c < ' ' || c == '\\' {
			return false
		}
	}
	return false
}

// number is a time after 1970, which has no zero in front and no exponent.
func (p *plain) number() bool {
	if len(p.rest) == 0 || p.rest[0] == '0' || !p.digits() {
		return false
	}
	return !p.take(".") || p.digits()
}

func (p *plain) digits() bool {
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	p.rest = p.rest[n:]
	return n > 0
}
