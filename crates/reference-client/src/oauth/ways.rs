//! Decisions in a login. The usual ones are correct.

/// How the challenge of status 401 is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    Fully,
    Never,
    /// `Bearer` and `resource_metadata` in this case only.
    CaseSensitive,
    /// Only the first line, and only if it begins with the scheme.
    FirstLine,
    /// Split at commas, whatever is quoted.
    AtCommas,
    /// The first place where the text has `resource_metadata=`.
    BySearch,
}

/// How issuers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compares {
    Exactly,
    /// As URLs: case, escapes and a final slash do not matter.
    Normalized,
    /// Only host and port.
    Hosts,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pkce {
    S256,
    Plain,
    /// The first method that the metadata lists.
    FirstListed,
    Absent,
}

/// How the client authenticates at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// As the registration says.
    Assigned,
    Post,
    Basic,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksState {
    Always,
    IfPresent,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksIss {
    /// It is compared if it is present, and has to be present if it is advertised.
    Always,
    IfPresent,
    IfAdvertised,
    /// It is demanded even if it is not advertised.
    Demanded,
    Normalized,
    Never,
    /// A response with it is rejected.
    Unknown,
    /// A response with it is rejected if it is not advertised.
    NotUnadvertised,
}

/// Where the scopes are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// The challenge, else the resource metadata.
    Right,
    /// Those of the resource metadata first.
    Listed,
    /// Those of the authorization server.
    OfServer,
    /// The challenge, without what the authorization server does not list.
    Filtered,
    /// The challenge and everything else that is listed.
    All,
    /// These, whatever is listed.
    Invented,
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepUp {
    /// The earlier scopes and those of the challenge.
    Union,
    ChallengeOnly,
    /// The earlier ones again.
    Same,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Whether the client logs in at all.
    pub supported: bool,
    /// Only requests that open a connection lead to a login.
    pub connects_only: bool,
    /// The rejected request is not sent again after a login.
    pub leaves_request: bool,
    /// A rejected token is sent again this often.
    pub repeats_token: usize,
    /// A rejected request is sent again this often without a token.
    pub repeats: usize,
    /// The refresh token is sent to the MCP server.
    pub shows_refresh: bool,
    pub reads: Reads,
    /// The well-known places of resource metadata.
    pub resource_places: &'static [ResourcePlace],
    /// Well-known places come before the URL in the challenge.
    pub well_known_first: bool,
    pub checks_resource: bool,
    /// The origin of `resource` is compared by its bytes.
    pub exact_resource: bool,
    /// The URL of the endpoint is sent as `resource`, whatever the metadata says.
    pub own_resource: bool,
    /// `resource` is not sent to `OpenID` providers.
    pub no_resource_for_openid: bool,
    /// How often metadata is looked for.
    pub rounds: usize,
    /// Nothing but an origin is needed to guess an authorization server.
    pub ignores_metadata: bool,
    pub places: &'static [ServerPlace],
    pub compares: Compares,
    /// Without metadata the default endpoints are used.
    pub defaults: bool,
    pub demands_s256: bool,
    /// `OpenID` providers need not say that they support PKCE.
    pub trusts_openid: bool,
    /// `OpenID` metadata is not understood.
    pub rejects_openid: bool,
    pub pkce: Pkce,
    pub guesses_registration: bool,
    /// A rejected registration is repeated this often.
    pub registers: usize,
    /// Without a registration the login continues.
    pub needs_no_id: bool,
    pub auth: Auth,
    pub encodes: bool,
    pub state: ChecksState,
    pub iss: ChecksIss,
    /// A code is sent this often if it is rejected.
    pub sends_code: usize,
    /// An error of the authorization endpoint is not noticed.
    pub ignores_errors: bool,
    /// A new login follows an error.
    pub tries: usize,
    pub scopes: Scopes,
    pub any_token_type: bool,
    /// Only the type `Bearer` in this case is known.
    pub exact_token_type: bool,
    /// Only tokens with `expires_in` are used.
    pub needs_lifetime: bool,
    /// The token has to have all scopes that were requested.
    pub needs_scopes: bool,
    pub most_logins: usize,
    pub step_up: StepUp,
    pub any_403: bool,
    pub refreshes: bool,
    /// Without a refresh token one is made up.
    pub invents_refresh: bool,
    /// A failed refresh is repeated this often.
    pub repeats_refresh: usize,
    /// The first refresh token is used for ever.
    pub keeps_first_refresh: bool,
    /// The refresh token ends with the first refresh that returns none.
    pub drops_refresh: bool,
    pub single_flight: bool,
    /// The client sends the authorization request itself before it opens the URL.
    pub preflights: usize,
    pub same_verifier: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourcePlace {
    Path,
    Root,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerPlace {
    OauthInserted,
    OpenidInserted,
    OpenidAppended,
    /// The path of the issuer is dropped.
    OauthRoot,
}

impl Ways {
    pub const USUAL: Self = Self {
        supported: true,
        connects_only: false,
        leaves_request: false,
        repeats_token: 0,
        repeats: 0,
        shows_refresh: false,
        reads: Reads::Fully,
        resource_places: &[ResourcePlace::Path, ResourcePlace::Root],
        well_known_first: false,
        checks_resource: true,
        exact_resource: false,
        own_resource: false,
        no_resource_for_openid: false,
        rounds: 1,
        ignores_metadata: false,
        places: &[ServerPlace::OauthInserted, ServerPlace::OpenidInserted, ServerPlace::OpenidAppended],
        compares: Compares::Exactly,
        defaults: false,
        demands_s256: true,
        trusts_openid: false,
        rejects_openid: false,
        pkce: Pkce::S256,
        guesses_registration: false,
        registers: 1,
        needs_no_id: false,
        auth: Auth::Assigned,
        encodes: true,
        state: ChecksState::Always,
        iss: ChecksIss::Always,
        sends_code: 1,
        ignores_errors: false,
        tries: 1,
        scopes: Scopes::Right,
        any_token_type: false,
        exact_token_type: false,
        needs_lifetime: false,
        needs_scopes: false,
        most_logins: 3,
        step_up: StepUp::Union,
        any_403: false,
        refreshes: true,
        invents_refresh: false,
        repeats_refresh: 1,
        keeps_first_refresh: false,
        drops_refresh: false,
        single_flight: true,
        preflights: 0,
        same_verifier: false,
    };
}
