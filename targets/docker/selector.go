package docker

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/filters"

	"github.com/hpad/hpad/internal/options"
)

// Labels that Compose gives its containers, and that the driver gives its own.
const (
	labelProject = "com.docker.compose.project"
	labelService = "com.docker.compose.service"
	labelOneOff  = "com.docker.compose.oneoff"
	labelNumber  = "com.docker.compose.container-number"
	labelReplace = "com.docker.compose.replace"
	labelHash    = "com.docker.compose.config-hash"
	labelTask    = "com.docker.swarm.task.id"

	// labelTemplate holds the id of the container that a clone was made from.
	labelTemplate = "hpad.template"
	// labelClone numbers the clones of plain containers.
	labelClone = "hpad.number"
)

// selector says which containers are the members of a target.
type selector struct {
	project, service string            // of Compose; empty for plain containers
	labels           map[string]string // all of them
}

func (s *selector) compose() bool { return s.project != "" }

// String names the target in messages.
func (s *selector) String() string {
	if s.compose() {
		return s.project + "/" + s.service
	}
	return strings.Join(s.pairs(), ",")
}

// id is the same for selectors that mean the same.
func (s *selector) id() string {
	if s.compose() {
		return "compose/" + s.project + "/" + s.service
	}
	escaped := s.pairs()
	for i := range escaped {
		escaped[i] = url.QueryEscape(escaped[i])
	}
	return "labels/" + strings.Join(escaped, "&")
}

func (s *selector) pairs() []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(s.labels)) {
		list = append(list, key+"="+s.labels[key])
	}
	return list
}

// filter is the selector as the engine's own filter.
func (s *selector) filter() filters.Args {
	args := filters.NewArgs()
	for _, pair := range s.pairs() {
		args.Add("label", pair)
	}
	return args
}

func (s *selector) matches(labels map[string]string) bool {
	for key, value := range s.labels {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	return true
}

var (
	projectName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	serviceName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`)
)

// selector checks the table of a binding. It finds everything that is wrong with it.
func (o *bindingOptions) selector() (*selector, error) {
	plain, byCompose := o.Label != "" || len(o.Labels) > 0, o.Project != "" || o.Service != ""
	switch {
	case plain && byCompose:
		return nil, options.Errorf("project", "project and service exclude label and labels")
	case plain:
		return o.byLabels()
	case !byCompose:
		return nil, options.Errorf("project", "must be set, with service; or label, for plain containers")
	}
	var errs []error
	if !projectName.MatchString(o.Project) {
		errs = append(errs, options.Errorf("project", "must be the name of a Compose project (lower case letters, digits, - and _), is %s", options.Show(o.Project)))
	}
	if !serviceName.MatchString(o.Service) {
		errs = append(errs, options.Errorf("service", "must be the name of a service of the project, is %s", options.Show(o.Service)))
	}
	return composeSelector(o.Project, o.Service), errors.Join(errs...)
}

func composeSelector(project, service string) *selector {
	return &selector{project: project, service: service, labels: map[string]string{
		labelProject: project, labelService: service, labelOneOff: "False",
	}}
}

// byLabels takes labels that say what project and service would for just that.
func (o *bindingOptions) byLabels() (*selector, error) {
	labels := maps.Clone(o.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	var errs []error
	if o.Label != "" {
		key, value, ok := strings.Cut(o.Label, "=")
		if !ok || key == "" {
			errs = append(errs, options.Errorf("label", `must be like "key=value", is %s`, options.Show(o.Label)))
		}
		if other, twice := labels[key]; twice && other != value {
			errs = append(errs, options.Errorf("label", "says otherwise than labels of %q", key))
		}
		labels[key] = value
	}
	if _, empty := labels[""]; empty && len(errs) == 0 {
		errs = append(errs, options.Errorf("labels", "must have no empty key"))
	}
	for _, own := range []string{labelTemplate, labelClone} {
		if _, used := labels[own]; used {
			errs = append(errs, options.Errorf("labels", "must not hold %q, which hpad gives its clones", own))
		}
	}
	project, service := labels[labelProject], labels[labelService]
	oneOff, known := labels[labelOneOff]
	if project != "" && service != "" && (len(labels) == 2 || len(labels) == 3 && known && oneOff == "False") {
		return composeSelector(project, service), errors.Join(errs...)
	}
	return &selector{labels: labels}, errors.Join(errs...)
}

// cloneName is the name of a container's clone with that number. Compose's own scheme is told by
// the template's name, as it has changed from "_" to "-". Names of plain clones cannot be mistaken
// for Compose's.
func (s *selector) cloneName(template *member, number int) string {
	if s.compose() {
		return strings.TrimSuffix(template.name, template.seen.Config.Labels[labelNumber]) + fmt.Sprint(number)
	}
	return strings.TrimSuffix(template.name, plainSuffix+template.seen.Config.Labels[labelClone]) + plainSuffix + fmt.Sprint(number)
}

const plainSuffix = "-hpad-"
