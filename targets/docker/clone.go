package docker

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// object is a JSON object whose values stay as they were written, known to this program or not.
type object map[string]json.RawMessage

// get reads a value; one that is missing or of another kind leaves the zero value.
func get[V any](o object, key string) V {
	var value V
	_ = json.Unmarshal(o[key], &value)
	return value
}

func (o object) set(key string, value any) error {
	text, err := json.Marshal(value)
	o[key] = text
	return err
}

// blueprint is what clones of a template are made from: what the engine says of the template, less
// what is the template's alone.
type blueprint struct {
	template *member
	config   object
	host     object
	primary  string            // the network that a container is created in; empty if it needs no mention
	networks map[string]object // all of them, by name
	ids      map[string]string // of the networks, by name
}

// newBlueprint reads a template. The image is the reference that the template was made with, as
// long as it still means the same image.
func newBlueprint(template *member, image string) (*blueprint, error) {
	var seen struct {
		Config, HostConfig object
		NetworkSettings    struct{ Networks map[string]object }
	}
	if err := json.Unmarshal(template.raw, &seen); err != nil || seen.Config == nil || seen.HostConfig == nil {
		return nil, fmt.Errorf("the engine's answer describes no container: %w", err)
	}
	b := &blueprint{template: template, config: seen.Config, host: seen.HostConfig}
	b.readNetworks(seen.NetworkSettings.Networks)
	for _, edit := range []func() error{
		func() error { return b.config.set("Image", image) },
		b.forgetIdentity, b.rewriteLinks, b.freshVolumes,
	} {
		if err := edit(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// forgetIdentity drops what the engine gave to the template alone.
func (b *blueprint) forgetIdentity() error {
	if get[string](b.config, "Hostname") == b.template.short() {
		delete(b.config, "Hostname")
	}
	delete(b.config, "MacAddress")
	return b.host.set("ContainerIDFile", "")
}

// rewriteLinks turns "/db:/web/alias", as the engine says it, into "db:alias", as it wants it.
func (b *blueprint) rewriteLinks() error {
	links := get[[]string](b.host, "Links")
	for i, link := range links {
		from, as, _ := strings.Cut(link, ":")
		links[i] = strings.TrimPrefix(from, "/") + ":" + as[strings.LastIndex(as, "/")+1:]
	}
	if links == nil {
		return nil
	}
	return b.host.set("Links", links)
}

// anonymous is the name of a volume that has none but the engine's.
var anonymous = regexp.MustCompile(`^[0-9a-f]{64}$`)

// freshVolumes gives a clone anonymous volumes of its own. A template that Compose has made anew
// mentions those of its predecessor by their names.
func (b *blueprint) freshVolumes() error {
	binds := get[[]string](b.host, "Binds")
	volumes := get[map[string]struct{}](b.config, "Volumes")
	if volumes == nil {
		volumes = map[string]struct{}{}
	}
	own := func(bind string) bool {
		source, path, _ := strings.Cut(bind, ":")
		if !anonymous.MatchString(source) {
			return false
		}
		path, _, _ = strings.Cut(path, ":")
		volumes[path] = struct{}{}
		return true
	}
	if slices.ContainsFunc(binds, own) {
		if err := b.host.set("Binds", slices.DeleteFunc(binds, own)); err != nil {
			return err
		}
		if err := b.config.set("Volumes", volumes); err != nil {
			return err
		}
	}
	mounts := get[[]object](b.host, "Mounts")
	for _, mount := range mounts {
		if get[string](mount, "Type") == "volume" && anonymous.MatchString(get[string](mount, "Source")) {
			delete(mount, "Source")
		}
	}
	if mounts == nil {
		return nil
	}
	return b.host.set("Mounts", mounts)
}

// configured are the keys of a network's endpoint that say what was wanted; the others say what
// the engine made of it, for the template.
var configured = []string{"IPAMConfig", "Links", "Aliases", "DriverOpts", "GwPriority"}

func (b *blueprint) readNetworks(seen map[string]object) {
	b.networks, b.ids = map[string]object{}, map[string]string{}
	mode := get[string](b.host, "NetworkMode")
	for name, endpoint := range seen {
		id := get[string](endpoint, "NetworkID")
		wanted := object{}
		for _, key := range configured {
			if value, ok := endpoint[key]; ok && string(value) != "null" {
				wanted[key] = value
			}
		}
		b.networks[name], b.ids[name] = wanted, id
		// A network may be mentioned by its id, of a template that was started by hand.
		if name == mode || id != "" && id == mode {
			b.primary = name
		}
	}
	if mode == "default" || mode == "bridge" {
		delete(b.networks, "bridge") // has no aliases, and refuses them
		b.primary = ""
	}
}

// body is the request that creates a clone.
func (b *blueprint) body(name string, labels map[string]string) ([]byte, error) {
	body := object{}
	for key, value := range b.config {
		body[key] = value
	}
	endpoints := map[string]object{}
	if b.primary != "" {
		endpoints[get[string](b.host, "NetworkMode")] = b.endpoint(b.primary, name)
	}
	for key, value := range map[string]any{
		"Labels": labels, "HostConfig": b.host,
		"NetworkingConfig": map[string]any{"EndpointsConfig": endpoints},
	} {
		if err := body.set(key, value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(body)
}

// others are the networks that a clone is connected to after it was created: engines before API
// 1.44 create it in one network only.
func (b *blueprint) others() []string {
	var names []string
	for name := range b.networks {
		if name != b.primary {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// endpoint is how a container of that name is connected to a network: its own name stands where
// the template's did, and the engine itself adds its id.
func (b *blueprint) endpoint(network, name string) object {
	endpoint := object{}
	for key, value := range b.networks[network] {
		endpoint[key] = value
	}
	aliases := get[[]string](endpoint, "Aliases")
	aliases = slices.DeleteFunc(aliases, func(alias string) bool { return alias == b.template.short() })
	for i, alias := range aliases {
		if alias == b.template.name {
			aliases[i] = name
		}
	}
	if len(aliases) > 0 {
		_ = endpoint.set("Aliases", aliases) // texts can be written
	} else {
		delete(endpoint, "Aliases")
	}
	return endpoint
}
