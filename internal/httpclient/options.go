package httpclient

import (
	"errors"
	"net/url"
	"time"

	"github.com/prometheus/common/config"

	"github.com/hpad/hpad/internal/options"
)

// Options are the keys of the table of a driver that asks over HTTP. Those from basic_auth on
// are those of a Prometheus scrape job, less the ones that would put a secret into the file.
type Options struct {
	URL              string        `toml:"url" doc:"address, as \"http://127.0.0.1:9090\" (required)"`
	Timeout          time.Duration `toml:"timeout" doc:"longest wait for one answer"`
	MaxResponseBytes int64         `toml:"max_response_bytes" doc:"largest answer, in bytes"`
	MaxConcurrent    int           `toml:"max_concurrent" doc:"requests at the same time, and so connections: 1 to 20"`

	BasicAuth     *BasicAuth     `toml:"basic_auth" doc:"user name and password"`
	Authorization *Authorization `toml:"authorization" doc:"Authorization header, such as a bearer token"`
	OAuth2        *OAuth2        `toml:"oauth2" doc:"token from an OAuth 2.0 server"`
	BearerToken   options.Path   `toml:"bearer_token_file" doc:"file with a bearer token; the same as authorization.credentials_file"`

	TLS             TLS               `toml:"tls_config" doc:"TLS of the connection"`
	FollowRedirects bool              `toml:"follow_redirects" doc:"follow redirects, but not from https to http, nor with http_headers to another host"`
	EnableHTTP2     bool              `toml:"enable_http2" doc:"use HTTP/2 where the server does"`
	HTTPHeaders     map[string]Header `toml:"http_headers" doc:"further headers, by name"`
	Proxy
}

// BasicAuth is the basic_auth table.
type BasicAuth struct {
	Username     string       `toml:"username" doc:"user name"`
	UsernameFile options.Path `toml:"username_file" doc:"file with the user name"`
	PasswordFile options.Path `toml:"password_file" doc:"file with the password, read anew for each request"`
}

// Authorization is the authorization table.
type Authorization struct {
	Type            string       `toml:"type" doc:"first word of the header"`
	CredentialsFile options.Path `toml:"credentials_file" doc:"file with the rest of the header, read anew for each request"`
}

// OAuth2 is the oauth2 table.
type OAuth2 struct {
	ClientID                 string            `toml:"client_id" doc:"id of the client (required)"`
	ClientSecretFile         options.Path      `toml:"client_secret_file" doc:"file with the client's secret"`
	ClientCertificateKeyID   string            `toml:"client_certificate_key_id" doc:"id of the key that signs the JWT"`
	ClientCertificateKeyFile options.Path      `toml:"client_certificate_key_file" doc:"file with the key that signs the JWT"`
	GrantType                string            `toml:"grant_type" doc:"client_credentials, or urn:ietf:params:oauth:grant-type:jwt-bearer"`
	SignatureAlgorithm       string            `toml:"signature_algorithm" doc:"of the JWT: RS256, RS384, RS512"`
	Issuer                   string            `toml:"iss" doc:"issuer in the JWT; client_id if empty"`
	Audience                 string            `toml:"audience" doc:"audience in the JWT; token_url if empty"`
	Claims                   map[string]any    `toml:"claims" doc:"further claims of the JWT"`
	Scopes                   []string          `toml:"scopes" doc:"scopes of the token"`
	TokenURL                 string            `toml:"token_url" doc:"address the token comes from (required)"`
	EndpointParams           map[string]string `toml:"endpoint_params" doc:"further parameters of the request for the token"`
	TLS                      TLS               `toml:"tls_config" doc:"TLS of the connection to token_url"`
	Proxy
}

// TLS is a tls_config table.
type TLS struct {
	CA                 string       `toml:"ca" doc:"certificate of the authority, as text"`
	CAFile             options.Path `toml:"ca_file" doc:"file with the certificate of the authority; the system's authorities if empty"`
	Cert               string       `toml:"cert" doc:"client certificate, as text"`
	CertFile           options.Path `toml:"cert_file" doc:"file with the client certificate"`
	KeyFile            options.Path `toml:"key_file" doc:"file with the client's key"`
	ServerName         string       `toml:"server_name" doc:"name the server's certificate must have; that of the address if empty"`
	InsecureSkipVerify bool         `toml:"insecure_skip_verify" doc:"take any certificate"`
	MinVersion         Version      `toml:"min_version" doc:"oldest TLS: TLS10, TLS11, TLS12, TLS13"`
	MaxVersion         Version      `toml:"max_version" doc:"newest TLS"`
}

// Header is a header of the http_headers table.
type Header struct {
	Values []string       `toml:"values" doc:"values"`
	Files  []options.Path `toml:"files" doc:"files with values, read anew for each request"`
}

// Proxy are the keys about a proxy.
type Proxy struct {
	ProxyURL             string              `toml:"proxy_url" doc:"address of a proxy"`
	NoProxy              string              `toml:"no_proxy" doc:"hosts and networks reached without proxy_url, with commas"`
	ProxyFromEnvironment bool                `toml:"proxy_from_environment" doc:"take the proxy from HTTP_PROXY, HTTPS_PROXY, NO_PROXY"`
	ProxyConnectHeader   map[string][]string `toml:"proxy_connect_header" doc:"headers of CONNECT requests to the proxy"`
}

// Version is a version of TLS.
type Version config.TLSVersion

// UnmarshalText reads a name such as "TLS12".
func (v *Version) UnmarshalText(text []byte) error {
	version, ok := config.TLSVersions[string(text)]
	if !ok {
		return errors.New("must be TLS10, TLS11, TLS12 or TLS13, is " + options.Show(string(text)))
	}
	*v = Version(version)
	return nil
}

// Limits of the options.
const (
	largestAnswer  = 1 << 30
	mostConcurrent = 20
	longestTimeout = 5 * time.Minute
)

// Defaults are the Options of an empty table.
func Defaults() Options {
	return Options{
		Timeout:          10 * time.Second,
		MaxResponseBytes: 10 << 20,
		MaxConcurrent:    8,
		FollowRedirects:  true,
		EnableHTTP2:      true,
	}
}

// Check returns what is wrong with the options, as errors of package options.
func (o *Options) Check() error {
	var errs []error
	failf := func(key, format string, args ...any) {
		errs = append(errs, options.Errorf(key, format, args...))
	}
	if o.URL == "" {
		failf("url", `is missing, must be an address such as "http://127.0.0.1:9090"`)
	} else if _, err := parseURL(o.URL); err != nil {
		failf("url", "%s", err)
	}
	if o.Timeout <= 0 || o.Timeout > longestTimeout {
		failf("timeout", "must be more than 0 and at most %s, is %s", options.Duration(longestTimeout), options.Duration(o.Timeout))
	}
	if o.MaxResponseBytes < 1 || o.MaxResponseBytes > largestAnswer {
		failf("max_response_bytes", "must be 1 … %d, is %d", largestAnswer, o.MaxResponseBytes)
	}
	if o.MaxConcurrent < 1 || o.MaxConcurrent > mostConcurrent {
		failf("max_concurrent", "must be 1 … %d, is %d", mostConcurrent, o.MaxConcurrent)
	}
	errs = append(errs, o.checkProxies()...)
	return errors.Join(errs...)
}

func (o *Options) checkProxies() []error {
	var errs []error
	if _, err := proxyURL(o.ProxyURL); err != nil {
		errs = append(errs, options.Errorf("proxy_url", "%s", err))
	}
	if o.OAuth2 == nil {
		return errs
	}
	if _, err := proxyURL(o.OAuth2.ProxyURL); err != nil {
		errs = append(errs, options.Errorf("oauth2.proxy_url", "%s", err))
	}
	if o.OAuth2.TokenURL != "" {
		if _, err := parseURL(o.OAuth2.TokenURL); err != nil {
			errs = append(errs, options.Errorf("oauth2.token_url", "%s", err))
		}
	}
	return errs
}

// parseURL reads an address. Its errors do not repeat it, for it may hold a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New(`is not a URL such as "http://127.0.0.1:9090"`)
	case u.User != nil:
		return nil, errors.New("holds a user name or password: write them as basic_auth = { username = …, password_file = … }")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New(`must begin with "http://" or "https://", is ` + options.Show(text))
	case u.Hostname() == "":
		return nil, errors.New("names no host, is " + options.Show(text))
	case u.Fragment != "":
		return nil, errors.New("must have no part behind #")
	}
	return u, nil
}

// proxyURL reads the address of a proxy, which may hold a password: there is no other place for it.
func proxyURL(text string) (config.URL, error) {
	if text == "" {
		return config.URL{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return config.URL{}, errors.New(`is not the address of a proxy, such as "http://proxy:3128"`)
	}
	return config.URL{URL: u}, nil
}
