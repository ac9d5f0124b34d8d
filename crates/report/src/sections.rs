//! Sections that the pages of some revisions lack, and where their content is instead: a rule names one section for all
//! revisions, and the specification has moved and renamed some.

use Revision::{
    V2024_11_05 as OLDEST, V2025_03_26 as SPRING, V2025_06_18 as SUMMER, V2025_11_25 as LEGACY, V2026_07_28 as NEWEST,
};
use conform_model::revision::Revision;

/// A page and a section; the first and the last revision that lack it; and what to link to there.
type Lacking = (&'static str, Revision, Revision, &'static str);

/// The types of the schema are in its source, whether or not the page has them.
pub const SCHEMA_SOURCE: &str = "schema.ts";

const STREAMABLE: &str = "basic/transports/streamable-http";
const DISCOVERY: &str = "basic/authorization/authorization-server-discovery";

const LACKING: [Lacking; 64] = [
    ("basic#messages", OLDEST, OLDEST, "basic/messages"),
    ("basic#requests", OLDEST, OLDEST, "basic/messages#requests"),
    ("basic#responses", OLDEST, OLDEST, "basic/messages#responses"),
    ("basic/patterns#request-and-response", OLDEST, OLDEST, "basic/messages#responses"),
    ("basic#notifications", OLDEST, OLDEST, "basic/messages#notifications"),
    ("basic#error-responses", OLDEST, OLDEST, "basic/messages#responses"),
    ("basic#error-responses", SPRING, SUMMER, "basic#responses"),
    ("basic#result-responses", OLDEST, OLDEST, "basic/messages#responses"),
    ("basic#result-responses", SPRING, SUMMER, "basic#responses"),
    ("basic#meta", OLDEST, SPRING, "schema#Result"),
    ("basic/lifecycle#timeouts", OLDEST, OLDEST, "basic/lifecycle"),
    ("basic/transports#messages", OLDEST, LEGACY, "basic/transports"),
    ("basic/transports#stdio", NEWEST, NEWEST, "basic/transports/stdio"),
    ("basic/transports#streamable-http", OLDEST, OLDEST, "basic/transports#http-with-sse"),
    ("basic/transports#streamable-http", NEWEST, NEWEST, STREAMABLE),
    ("basic/transports#sending-messages-to-the-server", OLDEST, OLDEST, "basic/transports#http-with-sse"),
    (
        "basic/transports#sending-messages-to-the-server",
        NEWEST,
        NEWEST,
        "basic/transports/streamable-http#sending-messages",
    ),
    ("basic/transports#protocol-version-header", OLDEST, SPRING, "basic/transports"),
    (
        "basic/transports#protocol-version-header",
        NEWEST,
        NEWEST,
        "basic/transports/streamable-http#protocol-version-header",
    ),
    ("basic/transports#multiple-connections", NEWEST, NEWEST, STREAMABLE),
    ("basic/transports#session-management", NEWEST, NEWEST, STREAMABLE),
    (
        "basic/authorization#protected-resource-metadata-discovery-requirements",
        SUMMER,
        SUMMER,
        "basic/authorization#authorization-server-location",
    ),
    ("basic/authorization#protected-resource-metadata-discovery-requirements", NEWEST, NEWEST, DISCOVERY),
    ("basic/authorization#authorization-server-location", NEWEST, NEWEST, DISCOVERY),
    (
        "basic/authorization#access-token-privilege-restriction",
        NEWEST,
        NEWEST,
        "basic/authorization/security-considerations#access-token-privilege-restriction",
    ),
    (
        "basic/authorization#communication-security",
        NEWEST,
        NEWEST,
        "basic/authorization/security-considerations#communication-security",
    ),
    (
        "basic/authorization#authorization-code-protection",
        NEWEST,
        NEWEST,
        "basic/authorization/security-considerations#authorization-code-protection",
    ),
    (
        "basic/authorization#open-redirection",
        NEWEST,
        NEWEST,
        "basic/authorization/security-considerations#open-redirection",
    ),
    ("basic/authorization#token-theft", NEWEST, NEWEST, "basic/authorization/security-considerations#token-theft"),
    (
        "basic/authorization#authorization-server-metadata-discovery",
        NEWEST,
        NEWEST,
        "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery",
    ),
    (
        "basic/authorization#dynamic-client-registration",
        NEWEST,
        NEWEST,
        "basic/authorization/client-registration#dynamic-client-registration",
    ),
    (
        "basic/authorization#authorization-code-protection",
        SPRING,
        SPRING,
        "basic/authorization#security-considerations",
    ),
    ("basic/authorization#open-redirection", SPRING, SPRING, "basic/authorization#security-considerations"),
    ("basic/authorization#token-theft", SPRING, SPRING, "basic/authorization#security-considerations"),
    ("basic/authorization#communication-security", SPRING, SPRING, "basic/authorization#security-considerations"),
    (
        "basic/authorization#authorization-server-metadata-discovery",
        SPRING,
        SUMMER,
        "basic/authorization#server-metadata-discovery",
    ),
    ("basic/authorization#resource-parameter-implementation", SPRING, SPRING, "basic/authorization"),
    ("basic/authorization#authorization-flow-steps", SPRING, SPRING, "basic/authorization"),
    ("basic/authorization#authorization-response-validation", SPRING, LEGACY, "basic/authorization"),
    ("client/elicitation#elicitation-requests", SUMMER, SUMMER, "client/elicitation#creating-elicitation-requests"),
    (
        "client/elicitation#form-mode-elicitation-requests",
        SUMMER,
        SUMMER,
        "client/elicitation#creating-elicitation-requests",
    ),
    ("client/elicitation#form-mode-security", SUMMER, SUMMER, "client/elicitation#security-considerations"),
    ("client/elicitation#requested-schema", SUMMER, SUMMER, "client/elicitation#request-schema"),
    ("client/roots#root-list-changes", NEWEST, NEWEST, "client/roots"),
    ("server/resources#annotations", OLDEST, OLDEST, "schema#Annotated"),
    ("server/resources#annotations", SPRING, SPRING, "schema#Annotations"),
    ("server/prompts#resource-links", SUMMER, LEGACY, "server/prompts#promptmessage"),
    ("server/tools#output-schema", OLDEST, SPRING, "server/tools#tool-result"),
    ("server/tools#tool-names", OLDEST, SUMMER, "server/tools#tool"),
    ("server/utilities/completion#error-handling", OLDEST, OLDEST, "server/utilities/completion"),
    ("server/utilities/logging#setting-log-level", NEWEST, NEWEST, "server/utilities/logging#per-request-log-level"),
    // Types that the pages on the schema do not list.
    ("schema#BaseMetadata", SUMMER, NEWEST, SCHEMA_SOURCE),
    ("schema#CacheableResult", NEWEST, NEWEST, SCHEMA_SOURCE),
    ("schema#Icons", LEGACY, NEWEST, SCHEMA_SOURCE),
    ("schema#PaginatedRequest", SUMMER, NEWEST, SCHEMA_SOURCE),
    ("schema#PaginatedRequestParams", SUMMER, LEGACY, SCHEMA_SOURCE),
    ("schema#PaginatedResult", SUMMER, NEWEST, SCHEMA_SOURCE),
    ("schema#ResourceContents", SUMMER, NEWEST, SCHEMA_SOURCE),
    ("schema#ServerRequest", SUMMER, LEGACY, SCHEMA_SOURCE),
    ("schema#ServerResult", SUMMER, NEWEST, SCHEMA_SOURCE),
    ("schema#PARSE_ERROR", SUMMER, LEGACY, SCHEMA_SOURCE),
    ("schema#INVALID_REQUEST", SUMMER, LEGACY, SCHEMA_SOURCE),
    ("schema#METHOD_NOT_FOUND", SUMMER, LEGACY, SCHEMA_SOURCE),
    ("schema#INVALID_PARAMS", SUMMER, LEGACY, SCHEMA_SOURCE),
];

/// Types that earlier revisions name otherwise: the last of these revisions, and the name there.
const RENAMED: [(&str, Revision, &str); 12] = [
    ("ParseError", LEGACY, "PARSE_ERROR"),
    ("InvalidRequestError", LEGACY, "INVALID_REQUEST"),
    ("MethodNotFoundError", LEGACY, "METHOD_NOT_FOUND"),
    ("InvalidParamsError", LEGACY, "INVALID_PARAMS"),
    ("DiscoverResult", LEGACY, "InitializeResult"),
    ("MetaObject", LEGACY, "Result"),
    ("JSONRPCErrorResponse", SUMMER, "JSONRPCError"),
    ("Error", SUMMER, "JSONRPCError"),
    ("ElicitRequestFormParams", SUMMER, "ElicitRequest"),
    ("ResourceTemplateReference", SPRING, "ResourceReference"),
    ("ContentBlock", SPRING, "TextContent"),
    ("Annotations", OLDEST, "Annotated"),
];

/// The name that a type of the schema has in this revision.
pub fn name_of(named: &str, revision: Revision) -> &str {
    let renamed = RENAMED.iter().find(|(name, until, _)| *name == named && revision <= *until);
    let is_params = named.ends_with("RequestParams") || named.ends_with("NotificationParams");
    match renamed {
        Some((.., earlier)) => earlier,
        // Before, the params were a part of the request or the notification.
        None if is_params && revision < LEGACY => named.trim_end_matches("Params"),
        None => named,
    }
}

/// What to link to instead of a section, if the pages of this revision lack it.
pub fn instead(source: &str, revision: Revision) -> Option<&'static str> {
    let is_meant = |row: &&Lacking| row.0 == source && (row.1..=row.2).contains(&revision);
    LACKING.iter().find(is_meant).map(|(.., instead)| *instead)
}
