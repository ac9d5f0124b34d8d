//! From the source of a rule to the web page with its text.

use super::sections::{SCHEMA_SOURCE, instead, name_of};
use conform_model::revision::Revision;

const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification";
const SITE: &str = "https://modelcontextprotocol.io";
const REPOSITORY: &str = "https://github.com/modelcontextprotocol/modelcontextprotocol";
/// The first revision with a separate page for the schema.
const SCHEMA_PAGE: Revision = Revision::V2025_06_18;

/// Pages of extensions, which have repositories of their own.
const EXTENSIONS: [(&str, &str); 3] = [
    ("extensions/apps", "https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx"),
    (
        "extensions/skills",
        "https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx",
    ),
    ("extensions/tasks", "https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html"),
];

/// Pages that were renamed in the modern revisions.
const MOVED: [(&str, &str); 2] = [
    ("basic/utilities/cancellation", "basic/patterns/cancellation"),
    ("basic/utilities/progress", "basic/patterns/progress"),
];
/// The sections of the specification.
const SECTIONS: [&str; 6] = ["architecture", "basic", "client", "extensions", "schema", "server"];

/// The public page of a source such as `server/resources#capabilities`, `schema#Resource` or `SEP-2164#specification`
/// in the tested revision; `None` if it is not a page of the specification.
pub fn link(source: &str, revision: Revision) -> Option<String> {
    if source.contains(|c: char| c.is_whitespace() || c.is_control() || c == ':') {
        return None;
    }
    let of_schema = source.strip_prefix("schema#").map(|named| format!("schema#{}", name_of(named, revision)));
    let source = of_schema.as_deref().unwrap_or(source);
    let named = of_schema.as_deref().and_then(|source| source.strip_prefix("schema"));
    let source = instead(source, revision).unwrap_or(source);
    let (page, anchor) = source.split_once('#').unwrap_or((source, ""));
    if let Some(number) = page.strip_prefix("SEP-").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        return Some(format!("{REPOSITORY}/pull/{number}"));
    }
    if let Some((_, link)) = EXTENSIONS.iter().find(|(extension, _)| *extension == page) {
        return Some(if anchor.is_empty() { (*link).to_owned() } else { format!("{link}#{anchor}") });
    }
    if page.starts_with("docs/") {
        return Some(format!("{SITE}/{source}"));
    }
    if source != SCHEMA_SOURCE && !SECTIONS.contains(&page.split('/').next().unwrap_or_default()) {
        return None;
    }
    if source == SCHEMA_SOURCE || page == "schema" && revision < SCHEMA_PAGE {
        // The name of the type says what to search for.
        let named = named.or_else(|| source.strip_prefix("schema").filter(|named| named.starts_with('#')));
        return Some(format!("{REPOSITORY}/blob/main/schema/{revision}/schema.ts{}", named.unwrap_or_default()));
    }
    // In earlier revisions the overview has what the page on patterns begins with.
    let is_early = page == "basic/patterns" && !revision.is_modern();
    let (page, anchor) = if is_early { ("basic", "responses") } else { (page, anchor) };
    // In earlier revisions all transports are sections of one page.
    let section = page.strip_prefix("basic/transports/").filter(|_| !revision.is_modern());
    let (page, anchor) = section.map_or((page, anchor), |section| ("basic/transports", section));
    let page = MOVED
        .iter()
        .find(|(legacy, modern)| page == *legacy || page == *modern)
        .map_or(page, |(legacy, modern)| if revision.is_modern() { *modern } else { *legacy });
    // Later pages only link to the transport of the first revision.
    let revision = if anchor == "http-with-sse" { Revision::ALL[0] } else { holding(page, revision) };
    let mut link = format!("{SPECIFICATION}/{revision}/{page}");
    if !anchor.is_empty() {
        link.push('#');
        link.push_str(&anchor.to_lowercase());
    }
    Some(link)
}

/// The revision that has the page: the tested one, unless the page exists only in legacy or in modern revisions.
fn holding(page: &str, revision: Revision) -> Revision {
    const MODERN: [&str; 4] = ["basic/patterns/", "basic/versioning", "server/discover", "server/utilities/caching"];
    const LEGACY: [&str; 2] = ["basic/lifecycle", "basic/utilities/"];
    let among = |pages: &[&str]| pages.iter().any(|known| page.starts_with(known));
    match revision.is_modern() {
        false if among(&MODERN) => Revision::NEWEST,
        true if among(&LEGACY) => Revision::NEWEST_LEGACY,
        _ => revision,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_to_the_page_in_the_revision_tested() {
        let site = |rest: &str| Some(format!("{SPECIFICATION}/{rest}"));
        let (oldest, legacy, newest) = (Revision::ALL[0], Revision::NEWEST_LEGACY, Revision::NEWEST);
        let resources = "server/resources#capabilities";
        assert_eq!(link(resources, oldest), site("2024-11-05/server/resources#capabilities"));
        assert_eq!(link(resources, newest), site("2026-07-28/server/resources#capabilities"));
        assert_eq!(link("schema#ReadResourceResult", legacy), site("2025-11-25/schema#readresourceresult"));
        assert_eq!(
            link("schema#Resource", oldest),
            Some(format!("{REPOSITORY}/blob/main/schema/2024-11-05/schema.ts#Resource"))
        );
        assert_eq!(
            link("schema#InvalidParamsError", legacy),
            Some(format!("{REPOSITORY}/blob/main/schema/2025-11-25/schema.ts#INVALID_PARAMS"))
        );
        assert_eq!(
            link("schema#SetLevelRequestParams", Revision::V2025_06_18),
            site("2025-06-18/schema#setlevelrequest")
        );
        assert!(link("server/resources#annotations", oldest).unwrap().ends_with("2024-11-05/schema.ts#Annotated"));
        assert_eq!(link("schema#InvalidParamsError", newest), site("2026-07-28/schema#invalidparamserror"));
        assert_eq!(link("schema#Error", legacy), site("2025-11-25/schema#error"));
        assert_eq!(link("basic#error-responses", oldest), site("2024-11-05/basic/messages#responses"));
        assert_eq!(link("basic/transports#http-with-sse", newest), site("2024-11-05/basic/transports#http-with-sse"));
        assert_eq!(link("SEP-2164#specification", newest), Some(format!("{REPOSITORY}/pull/2164")));
        assert!(link("extensions/skills#limits", newest).unwrap().ends_with("/stable/skills.mdx#limits"));
    }

    #[test]
    fn leads_to_the_nearest_revision_that_has_the_page() {
        let (legacy, newest) = (Revision::NEWEST_LEGACY, Revision::NEWEST);
        assert!(link("basic/patterns#requests", legacy).unwrap().ends_with("/2025-11-25/basic#responses"));
        assert!(link("basic/patterns/mrtr#flow", legacy).unwrap().ends_with("/2026-07-28/basic/patterns/mrtr#flow"));
        assert!(link("basic/lifecycle#operation", newest).unwrap().contains("/2025-11-25/basic/lifecycle#"));
        let cancellation = link("basic/patterns/cancellation#timing", legacy).unwrap();
        assert!(cancellation.ends_with("/2025-11-25/basic/utilities/cancellation#timing"), "{cancellation}");
        assert!(link("basic/utilities/progress", newest).unwrap().ends_with("/2026-07-28/basic/patterns/progress"));
        assert!(link("basic/transports/stdio", legacy).unwrap().ends_with("/2025-11-25/basic/transports#stdio"));
        assert!(link("basic/transports/stdio", newest).unwrap().ends_with("/2026-07-28/basic/transports/stdio"));
    }

    #[test]
    fn leaves_alone_what_is_no_page() {
        for source in
            ["https://example.org/a", "our own notes", "a\nb", "HOUSE-12", "versioned-dialect#read", "SEP-x", ""]
        {
            assert_eq!(link(source, Revision::NEWEST), None, "{source}");
        }
    }
}
