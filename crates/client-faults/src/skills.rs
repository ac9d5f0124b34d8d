//! Faults in the use of skills.

use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE,
        decisions::{Heard, NextPage, Pages, Scene},
        memory::Memory,
    },
    skills::Flaw,
};
use serde_json::json;

const fn flaw(name: &'static str, about: &'static str, flaw: Flaw) -> Behaviour {
    Behaviour { skills: Some(flaw), ..Behaviour::modern(name, about, EVERYWHERE) }
}

const fn page(
    name: &'static str,
    about: &'static str,
    hook: fn(&mut Memory, &Scene, &Pages, &mut NextPage),
) -> Behaviour {
    Behaviour { page: Some(hook), ..Behaviour::modern(name, about, EVERYWHERE) }
}

fn of_skills(pages: &Pages) -> bool {
    pages.method == "skills/list"
}

pub static SKILLS: &[Behaviour] = &[
    // Which skills there are.
    flaw("skills-undeclared-used", "skills are requested of every server", Flaw::DeclarationIgnored),
    flaw("skills-settings-strict", "unknown settings of the extension hide all skills", Flaw::SettingsStrict),
    flaw(
        "skills-entries-strict",
        "an entry with unknown fields is rejected, and the whole list with it",
        Flaw::EntriesStrict,
    ),
    flaw(
        "skills-odd-entries-dropped",
        "entries with unknown fields are dropped from lists, and not requested",
        Flaw::OddEntriesDropped,
    ),
    flaw("skills-kept-by-name", "of skills with the same name the last one is kept", Flaw::KeptByName),
    flaw("skills-listed-for-each-file", "skills are listed again for each file", Flaw::ListedForEachFile),
    flaw("skills-listed-only", "skills that are not listed are rejected", Flaw::ListedOnly),
    flaw(
        "skills-other-schemes-rejected",
        "skills with another scheme than skill are rejected",
        Flaw::OtherSchemesRejected,
    ),
    flaw("skills-unconfirmed", "every resource that is named SKILL.md is loaded as a skill", Flaw::Unconfirmed),
    flaw("skills-rejection-ignored", "a skill is loaded although the server does not know it", Flaw::RejectionIgnored),
    flaw(
        "skills-authority-resolved",
        "the first segment of the URI of a skill is taken for a host",
        Flaw::AuthorityResolved,
    ),
    flaw("skills-hooks-run-at-list", "hooks of skills are run when they are listed", Flaw::HooksRunAtList),
    flaw("skills-hooks-run-at-load", "hooks of skills are run when they are loaded", Flaw::HooksRunAtLoad),
    flaw(
        "skills-allowed-tools-called",
        "a tool in `allowed-tools` is called when the skill is loaded",
        Flaw::AllowedToolsCalled,
    ),
    page("skills-first-page-only", "only the first page of skills is requested", |_, _, pages, next| {
        if of_skills(pages) {
            *next = None;
        }
    }),
    page("skills-empty-page-ends", "a page without skills ends the list", |_, _, pages, next| {
        if of_skills(pages) && pages.on_page == 0 {
            *next = None;
        }
    }),
    page("skills-cursor-decoded", "plus signs in cursors of skills become spaces", |_, _, pages, next| {
        if of_skills(pages)
            && let Some(params) = next
            && let Some(cursor) = pages.latest.as_str()
        {
            params.insert("cursor".to_owned(), json!(cursor.replace('+', " ")));
        }
    }),
    Behaviour {
        hear: Some(|_, _, message| {
            let fails = matches!(message["error"]["code"].as_i64(), Some(-32601 | -32603));
            if fails { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::modern(
            "skills-error-disconnects",
            "an error of a method for skills ends the connection",
            EVERYWHERE,
        )
    },
    // What is loaded.
    flaw(
        "skills-missing-resources-dynamic",
        "an entry without `resources` is taken for a dynamic skill",
        Flaw::MissingIsDynamic,
    ),
    flaw("skills-null-resources-dynamic", "null as `resources` is taken for a dynamic skill", Flaw::NullIsDynamic),
    flaw(
        "skills-text-resources-dynamic",
        "any text as `resources` is taken for a dynamic skill",
        Flaw::AnyTextIsDynamic,
    ),
    flaw("skills-unlisted-skill-md-loaded", "a SKILL.md that its entry does not list is loaded", Flaw::SkillMdUnlisted),
    flaw("skills-of-100-files", "skills with more than 100 files are rejected", Flaw::AtMost100Files),
    flaw("skills-files-of-4-mib-rejected", "files of 4 MiB are rejected", Flaw::LargeFilesRejected),
    flaw(
        "skills-limit-after-reading",
        "a skill with too many files is rejected after its SKILL.md was read",
        Flaw::LimitAfterReading,
    ),
    // What is read when.
    flaw("skills-prefetched", "all files of listed skills are read", Flaw::AllPrefetched),
    flaw("skills-previewed", "the SKILL.md of each listed skill is read", Flaw::SkillMdPreviewed),
    flaw("skills-read-whole-at-load", "all files of a skill are read when it is loaded", Flaw::AllReadAtLoad),
    flaw(
        "skills-activated-by-read",
        "a skill is loaded when its SKILL.md is read as a resource",
        Flaw::ActivatedByRead,
    ),
    flaw(
        "skills-mismatch-repeated",
        "a file that does not fit its entry is read again and again",
        Flaw::MismatchRepeated,
    ),
    flaw("skills-not-cached", "files of skills are read for each use", Flaw::NotCached),
    flaw("skills-cached-by-uri", "files of skills are cached by their URIs", Flaw::CachedByUri),
    flaw("skills-cached-by-size", "files of skills are cached by their URIs and sizes", Flaw::CachedBySize),
    // What is verified.
    flaw("skills-digest-ignored", "digests are not compared", Flaw::DigestIgnored),
    flaw("skills-digest-of-skill-md-only", "only the digest of SKILL.md is compared", Flaw::DigestOfSkillMdOnly),
    flaw("skills-digest-of-text-only", "digests of blobs are not compared", Flaw::DigestOfTextOnly),
    flaw("skills-digest-algorithm-only", "only the algorithm of digests is compared", Flaw::DigestBegin),
    flaw("skills-size-ignored", "sizes are not compared", Flaw::SizeIgnored),
    flaw("skills-cut-to-size", "files are cut to their sizes before they are verified", Flaw::CutToSize),
    flaw(
        "skills-longer-accepted",
        "a file that is longer than described is accepted if the digest fits",
        Flaw::LongerAccepted,
    ),
    flaw("skills-newlines-normalised", "line ends are changed before files are verified", Flaw::NewlinesNormalised),
    flaw("skills-mark-removed", "byte order marks are removed before files are verified", Flaw::MarkRemoved),
    flaw(
        "skills-blob-hashed-as-text",
        "the base64 of blobs is verified instead of their bytes",
        Flaw::BlobHashedAsText,
    ),
    flaw("skills-blob-skill-md-rejected", "a SKILL.md as a blob is rejected", Flaw::SkillMdBlobRejected),
    flaw(
        "skills-first-content-taken",
        "the first element of a read is taken, whatever its URI",
        Flaw::FirstContentTaken,
    ),
    flaw("skills-texts-joined", "the texts of a read are joined", Flaw::TextsJoined),
    // Front matter.
    flaw(
        "skills-front-matter-ignored",
        "front matter is not compared with that of the entry",
        Flaw::FrontMatterIgnored,
    ),
    flaw(
        "skills-name-and-description-only",
        "only name and description in front matter are compared",
        Flaw::NameAndDescriptionOnly,
    ),
    flaw("skills-fields-of-file-ignored", "front matter that only the file has is ignored", Flaw::FieldsOfFileIgnored),
    flaw("skills-front-matter-by-line", "front matter is parsed line by line", Flaw::FrontMatterByLine),
    flaw("skills-front-matter-in-order", "the order of fields in front matter is compared", Flaw::OrderCompared),
    flaw("skills-numbers-by-type", "2.0 and 2 in front matter are different", Flaw::NumbersByType),
    flaw("skills-reserved-rejected", "skills with reserved metadata are rejected", Flaw::ReservedRejected),
    flaw("skills-dynamic-unverified", "the front matter of dynamic skills is not compared", Flaw::DynamicUnverified),
    flaw(
        "skills-dynamic-name-only",
        "only the name in the front matter of dynamic skills is compared",
        Flaw::DynamicNameOnly,
    ),
    // Other files.
    flaw("skills-unlisted-read", "files that the entry does not list are read", Flaw::UnlistedRead),
    flaw("skills-directory-undeclared", "directories are read of every server with skills", Flaw::DirectoryUndeclared),
    flaw("skills-directory-text-taken", "`directoryRead` of \"true\" is taken for true", Flaw::DirectoryTextTaken),
    flaw("skills-directory-extends", "what a directory lists becomes a part of the skill", Flaw::DirectoryExtends),
    flaw("skills-escapes-followed", "references that lead out of the skill are followed", Flaw::EscapesFollowed),
    flaw("skills-absolute-followed", "absolute references are read as files of the skill", Flaw::AbsoluteFollowed),
    flaw(
        "skills-resolved-from-scheme",
        "references are resolved without the directory of the skill",
        Flaw::ResolvedFromScheme,
    ),
    flaw(
        "skills-first-segment-lost",
        "references are resolved without the first segment of the URI",
        Flaw::FirstSegmentLost,
    ),
    flaw("skills-slash-added", "references are resolved with a second slash", Flaw::SlashAdded),
    // Approvals.
    flaw("skills-approved-by-uri", "an approval of a skill covers all later files", Flaw::ApprovedByUri),
    flaw(
        "skills-approved-by-skill-md",
        "an approval of a skill lasts as long as its SKILL.md",
        Flaw::ApprovedBySkillMd,
    ),
    flaw(
        "skills-added-files-approved",
        "an approval of a skill covers files that were added",
        Flaw::AddedFilesApproved,
    ),
    flaw("skills-dynamic-approved", "an approval of a dynamic skill is kept", Flaw::DynamicApproved),
    flaw("skills-nested-approved", "an approval of a skill covers those inside of it", Flaw::NestedApproved),
];
