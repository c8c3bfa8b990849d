package httpclient

import (
	"github.com/prometheus/common/config"

	"github.com/hpad/hpad/internal/options"
)

// clientConfig puts the options into prometheus/common's form, which does the work. Proxy
// addresses are checked before.
func (o *Options) clientConfig() config.HTTPClientConfig {
	c := config.HTTPClientConfig{
		BearerTokenFile: string(o.BearerToken),
		TLSConfig:       o.TLS.config(),
		FollowRedirects: o.FollowRedirects,
		EnableHTTP2:     o.EnableHTTP2,
		ProxyConfig:     o.Proxy.config(),
	}
	if a := o.BasicAuth; a != nil {
		c.BasicAuth = &config.BasicAuth{
			Username:     a.Username,
			UsernameFile: string(a.UsernameFile),
			PasswordFile: string(a.PasswordFile),
		}
	}
	if a := o.Authorization; a != nil {
		c.Authorization = &config.Authorization{Type: a.Type, CredentialsFile: string(a.CredentialsFile)}
	}
	if o.OAuth2 != nil {
		c.OAuth2 = o.OAuth2.config()
	}
	if len(o.HTTPHeaders) > 0 {
		c.HTTPHeaders = &config.Headers{Headers: headers(o.HTTPHeaders)}
	}
	return c
}

func (a *OAuth2) config() *config.OAuth2 {
	return &config.OAuth2{
		ClientID:                 a.ClientID,
		ClientSecretFile:         string(a.ClientSecretFile),
		ClientCertificateKeyID:   a.ClientCertificateKeyID,
		ClientCertificateKeyFile: string(a.ClientCertificateKeyFile),
		GrantType:                a.GrantType,
		SignatureAlgorithm:       a.SignatureAlgorithm,
		Iss:                      a.Issuer,
		Audience:                 a.Audience,
		Claims:                   a.Claims,
		Scopes:                   a.Scopes,
		TokenURL:                 a.TokenURL,
		EndpointParams:           a.EndpointParams,
		TLSConfig:                a.TLS.config(),
		ProxyConfig:              a.Proxy.config(),
	}
}

func (t *TLS) config() config.TLSConfig {
	return config.TLSConfig{
		CA:                 t.CA,
		CAFile:             string(t.CAFile),
		Cert:               t.Cert,
		CertFile:           string(t.CertFile),
		KeyFile:            string(t.KeyFile),
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify,
		MinVersion:         config.TLSVersion(t.MinVersion),
		MaxVersion:         config.TLSVersion(t.MaxVersion),
	}
}

func (p *Proxy) config() config.ProxyConfig {
	address, _ := proxyURL(p.ProxyURL)
	c := config.ProxyConfig{
		ProxyURL:             address,
		NoProxy:              p.NoProxy,
		ProxyFromEnvironment: p.ProxyFromEnvironment,
	}
	for name, values := range p.ProxyConnectHeader {
		if c.ProxyConnectHeader == nil {
			c.ProxyConnectHeader = config.ProxyHeader{}
		}
		for _, value := range values {
			c.ProxyConnectHeader[name] = append(c.ProxyConnectHeader[name], config.Secret(value))
		}
	}
	return c
}

func headers(table map[string]Header) map[string]config.Header {
	all := make(map[string]config.Header, len(table))
	for name, h := range table {
		files := make([]string, len(h.Files))
		for i, path := range h.Files {
			files[i] = string(path)
		}
		all[name] = config.Header{Values: h.Values, Files: files}
	}
	return all
}

// validate applies the library's own rules of what goes with what.
func validate(c *config.HTTPClientConfig) error {
	if err := c.TLSConfig.Validate(); err != nil {
		return options.Errorf("tls_config", "%s", err)
	}
	if c.OAuth2 != nil {
		if err := c.OAuth2.TLSConfig.Validate(); err != nil {
			return options.Errorf("oauth2.tls_config", "%s", err)
		}
		if err := c.OAuth2.ProxyConfig.Validate(); err != nil {
			return options.Errorf("oauth2", "%s", err)
		}
	}
	if err := c.Validate(); err != nil {
		return options.Errorf("", "%s", err)
	}
	return nil
}
