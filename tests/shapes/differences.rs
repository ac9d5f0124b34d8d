//! Our deviations from the official schemas, with reasons.

/// Official types that we describe under another name.
pub const SAME: &[(&str, &str)] = &[
    ("JSONRPCError", "JSONRPCErrorResponse"),
    ("HeaderMismatchError", "JSONRPCErrorResponse"),
    ("MissingRequiredClientCapabilityError", "JSONRPCErrorResponse"),
    ("UnsupportedProtocolVersionError", "JSONRPCErrorResponse"),
    ("URLElicitationRequiredError", "JSONRPCErrorResponse"),
    ("ResourceReference", "ResourceTemplateReference"),
    ("LegacyTitledEnumSchema", "UntitledSingleSelectEnumSchema"),
    ("TitledMultiSelectEnumSchema", "MultiSelectEnumSchema"),
    ("UntitledMultiSelectEnumSchema", "MultiSelectEnumSchema"),
    ("SubscribeRequestParams", "ResourceRequestParams"),
    ("UnsubscribeRequestParams", "ResourceRequestParams"),
];

/// Official types without a description in this project.
pub const NOT_DESCRIBED: &[(&[&str], &str)] = &[
    (
        &["ClientRequest", "ClientNotification", "ClientResult", "ServerRequest", "ServerNotification", "ServerResult"],
        "a message is judged by its method alone",
    ),
    (
        &["Request", "Notification", "PaginatedRequest"],
        "what all messages have is in JSONRPCRequest and JSONRPCNotification",
    ),
    (
        &[
            "CallToolResultResponse",
            "CompleteResultResponse",
            "DiscoverResultResponse",
            "GetPromptResultResponse",
            "ListPromptsResultResponse",
            "ListResourceTemplatesResultResponse",
            "ListResourcesResultResponse",
            "ListToolsResultResponse",
            "ReadResourceResultResponse",
            "SubscriptionsListenResultResponse",
        ],
        "JSONRPCResultResponse around the result of the method, which is judged by its resultType",
    ),
    (
        &["ParseError", "InvalidRequestError", "MethodNotFoundError", "InvalidParamsError", "InternalError"],
        "PlainError; which code is due is for rules to say",
    ),
    (&["EnumSchema", "SingleSelectEnumSchema"], "the fields of a form are told apart in PrimitiveSchemaDefinition"),
    (&["Annotated"], "annotations are a member like others"),
    (&["JSONValue", "JSONArray", "JSONObject", "ResultType"], "plain JSON types"),
];

/// Patterns of shapes that only this project has.
pub const OURS_ALONE: &[(&str, &str)] = &[
    ("Answer$", "what a method may answer, or what all answers have, is written out in the official types"),
    ("^JSONRPC(Call|(Result|Error)?Response)$|^(Plain)?Error$", "frames have had other names, and parts without name"),
    (
        "^(HeaderMismatch|MissingRequired.*|UnsupportedProtocol.*|URLElicitationRequired)$",
        "an error object by its code",
    ),
    ("Params$|^(Meta|.*MetaObject|BaseMetadata)$|^ContentBlock$", "had no name of its own in older revisions"),
    (
        "^(SamplingMessageContentBlock|TextOrBlob.*|CompletionReference)$",
        "a union that is written out in the official types",
    ),
    ("^(Titled|Untitled)?ChoiceSchema$|^NamedValue$|^Field(Schema|Value)$", "parts of forms, written out there"),
    ("^(Annotations|ResourceTemplateReference|UntitledSingleSelectEnumSchema)$", "had another name in older revisions"),
    ("^(Described|Versioned(Text|Blob)?)Contents$", "what proposals and dialects add is in no released schema"),
    ("Task|^tasks/|^notifications/tasks", "the tasks extension is not part of the schema of 2026-07-28"),
    ("^Skill", "the skills extension is not part of the schema"),
];

/// Patterns of lines, and the reason for the deviation. A line is `stricter: REVISION Type /pointer what we say` if the
/// official schema accepts the value, and `looser: REVISION Type /pointer keyword` if it rejects the value.
pub const APART: &[(&str, &str)] = &[
    (
        r"^stricter: 2026-\S+ \S*Result /resultType is ",
        "a result is complete unless its method may answer otherwise; the schema takes any string, and with it \
                  any object for a read",
    ),
    (
        r"^looser: \S+ (JSONRPC\w+|\w+Error) (/id type|(/0)? anyOf| required)$",
        "nobody can name the id of a request that could not be read; null and absence are judged by rules",
    ),
    (
        r"^stricter: \S+ JSONRPC(Message|BatchRequest) (/\d)?/id is ",
        "what has an id and a method is a request, be the id ever so wrong; the schema takes it for a notification",
    ),
    (
        r"^stricter: 2025-03-26 JSONRPCMessage  is the array ",
        "a batch is judged by shapes of its own, then message by message",
    ),
    (
        r"^stricter: \S+ (JSONRPC\w+ /error|Error )/data(/\S+)? is ",
        "the data of an error follows from its code; the schema has types for that, but uses them nowhere",
    ),
    (
        r"^looser: \S+ (HeaderMismatch|MissingRequired\w+|UnsupportedProtocol\w+|URLElicitationRequired)Error /error(/code const|/data type|/data required| required)$",
        "an error with another code is another error, not a damaged one",
    ),
    (
        r"^stricter: 202[45]-\S+ \w+(Request|Message) /params/_meta(/progressToken)? is |^stricter: 202[45]-\S+ \w+Notification /params/_meta is ",
        "the types of single messages leave out the _meta that all messages have",
    ),
    (
        r"^stricter: 2025-11-25 CancelledNotification(Params)? (/params)?/requestId is missing$",
        "tasks are not cancelled by this notification, and nothing else could be meant without an id",
    ),
    (
        r"^looser: \S+ (ElicitResult /content/key|InputResponses /key|InputResponse ) (type|anyOf)$",
        "a field for a number takes fractions; the schema allows integers alone by an error of its generation",
    ),
    (
        r"^looser: 2026-\S+ (\w+Capabilities|CreateMessageRequest\w*|InputRequest) (/\S+)? ?anyOf$",
        "a JSON value may be null or a fraction; the schema refuses both by an error of its generation",
    ),
    (
        r"^stricter: \S+ (PrimitiveSchemaDefinition|UntitledSingleSelectEnumSchema) /(enum|enumNames|oneOf)(/\S+)? is ",
        "a field with choices is one, be the choices ever so wrong; the schema takes it for plain text",
    ),
    (r"^looser: \S+ (Titled|Untitled)MultiSelectEnumSchema /items required$", "both are one shape here"),
    (r"^stricter: 2026-\S+ Subscription\w+ \S*/taskIds(/\d)? is ", "a member of the tasks extension"),
];
