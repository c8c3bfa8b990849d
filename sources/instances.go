package sources

import (
	"strings"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// join is a PerInstance under way.
type join struct {
	check
	label     string
	instances []targets.Instance
	byName    map[string]int

	samples, unlisted []algorithm.Sample
	// owners are the series the samples are of, also of those left out for their age.
	owners []*Series
	fresh  int
}

// ambiguous is the place of an identifier that several instances have.
const ambiguous = -1

// byIdentifier returns the place of each instance by all its identifiers.
func byIdentifier(instances []targets.Instance) map[string]int {
	byName := make(map[string]int, 4*len(instances))
	for i := range instances {
		for _, name := range instances[i].Identifiers {
			if at, taken := byName[name]; taken && at != i {
				byName[name] = ambiguous
				continue
			}
			byName[name] = i
		}
	}
	return byName
}

func (j *join) add(s *Series) error {
	name, ok := s.Labels[j.label]
	if !ok || name == "" {
		return j.errorf(Invalid, "gave series %s without the label %q that tells the instance: "+
			"keep it in the query, as in sum by (%s) (…), or set instance_label", show(s), j.label, j.label)
	}
	at, listed := j.find(name)
	if listed && at == ambiguous {
		return j.errorf(Invalid, "gave series %s, but several instances answer to %q: "+
			"instance_label must be a label that tells them apart", show(s), name)
	}
	if listed && j.owners[at] != nil {
		return j.errorf(TooMany, "gave two series for instance %q, %s and %s; one must be left: "+
			"aggregate as in sum by (%s) (…), or select fewer", j.instances[at].ID, show(j.owners[at]), show(s), j.label)
	}
	if listed {
		j.owners[at] = s
	}
	value, err := j.quantity(s)
	if err != nil {
		return err
	}
	if err := j.fromFuture(s); err != nil {
		return err
	}
	if j.tooOld(s) {
		return nil
	}
	j.fresh++
	sample := algorithm.Sample{Present: true, Value: value, Time: s.Time}
	if listed {
		j.samples[at] = sample
	} else {
		j.unlisted = append(j.unlisted, sample)
	}
	return nil
}

// find returns the place of the instance with that name, with or without the port of the address.
func (j *join) find(name string) (at int, listed bool) {
	if at, listed = j.byName[name]; listed {
		return at, true
	}
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 || !digits(name[colon+1:]) {
		return 0, false
	}
	host := name[:colon]
	if at, listed = j.byName[host]; listed {
		return at, true
	}
	if bare, ok := strings.CutPrefix(host, "["); ok {
		at, listed = j.byName[strings.TrimSuffix(bare, "]")]
	}
	return at, listed
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
