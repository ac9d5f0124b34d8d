//! What the rules of profiles see: the schemas of tools, part by part.

use super::wire::ORIGIN;

views! {
    /// `$schemas[*]`, in profiles: one schema of a listed tool, be it the whole or a part.
    SCHEMA "a schema" {
        /// The name of the tool.
        tool,
        /// `input` or `output`.
        of,
        /// Where it is in the whole schema, as a JSON Pointer.
        pointer,
        /// How many object schemas it is in.
        depth,
        /// Whether it is the whole schema.
        root,
        /// Of the schema of a property: the key of the property.
        name,
        /// The schema itself.
        node,
        /// Its keywords.
        keywords: list,
        /// Where its `$ref` leads: `found`, `missing`, `recursive`, or `external` to another document.
        target,
        /// The length of the whole schema in bytes, without spaces.
        bytes,
        /// Of a whole schema: counts over all of its parts.
        total: one SCHEMA_TOTAL,
        /// Where it was received.
        origin: one ORIGIN,
    }
    /// `total` of a whole schema in `$schemas`.
    SCHEMA_TOTAL "the counts of a schema" {
        /// How many properties.
        properties,
        /// How many properties that are not required.
        optional,
        /// How many `anyOf`, `oneOf` and lists of types.
        unions,
        /// How many values of `enum`.
        enum_values,
        /// How many levels of objects.
        levels,
    }
}
