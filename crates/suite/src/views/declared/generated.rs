//! The fields of generated calls and of their effects.

views! {
    /// `$calls[*]`: one call that `mcp-conform generate` made, and its outcome.
    GENERATED "a generated call" {
        /// What was called: `tool`, `prompt`, `template`, `completion` or `list`.
        what,
        /// The tool, prompt, template or list by its name.
        name,
        /// It, as the server lists it.
        listed,
        /// The method of the request.
        method,
        /// The params of the request.
        params,
        /// The generated values.
        arguments,
        /// `valid`, `invalid` (they violate exactly one keyword of the schema) or `hostile` (valid, and odd).
        kind,
        /// The keyword of the schema that the arguments violate, or whose bound they are at.
        keyword,
        /// Where in the arguments, as a JSON Pointer.
        at,
        /// What is wrong or odd, as part of a sentence.
        odd,
        /// `result`, `error`, `timeout`, `closed`, `malformed` or, beyond the limits, `unread`.
        end,
        /// The result.
        result,
        /// The error.
        error,
        /// Whether it is an error, or a result with `isError`.
        failed,
        /// Of a failure: all that it says, in one text.
        said,
        /// How long it took, in milliseconds.
        ms,
        /// The numbers of its frames.
        frames: list,
        /// What happened, where `end` does not say it.
        why,
        /// How the process exited while it handled the call, or right after it.
        killed,
        /// Whether the server responded to a harmless request after it.
        responds,
        /// Without a response: whether other calls of the same thing are responded to.
        usual,
        /// Without a response: whether there is one with smaller numbers.
        by_number,
        /// Of a value at a bound that is rejected: the same call with a value inside the bound, the first one that is rejected too.
        inside: one INSIDE,
        /// Of a slow call: whether half of the text takes an eighth of the time, or less.
        explodes,
        /// Of a tool with `readOnlyHint`: what differs in the lists and resources after it, twice in a row.
        changed: list,
        /// Of a tool with `idempotentHint`: what differs in them after it was called again.
        changed_again: list,
        /// Whether another session showed what was sent in this one.
        seen_elsewhere,
        /// Of a template: whether what is read shows a value decoded twice, or with its bytes as characters.
        misread,
        /// Whether the result has `undefined`, `NaN` or `[object Object]`, and has none in a plain call with all arguments.
        unfilled,
        /// Of a failure: whether it has the directory of the server's program.
        discloses,
        /// Of a failure: whether the name, description or schema of what was called mentions patterns or regular expressions.
        expects_pattern,
        /// Of calls that were made at the same time: whether the response to one had the result of another, twice in a row.
        mixed_up,
        /// Of calls that were made at the same time: whether one of them had no response, twice in a row.
        ignored,
        /// Of calls that were made at the same time: whether the server still responded after one of them was cancelled. It is false if the server stopped twice in a row.
        survives_cancelled,
        /// Of a completion that failed: how the completion of an empty value ended.
        empty_value,
        /// Of an invalid call: true if many servers accept such a value on purpose, such as a number in quotes, or an unknown field.
        tolerated,
        /// Of such a call that is accepted: whether the server rejects such a value at another place.
        rejected_elsewhere,
        /// Of a valid call that is rejected, where a plain value is accepted: whether the message is that of an invalid value at the same place.
        like_invalid,
        /// Of a result: whether the name, description or schema of what was called mentions errors, logs or failures.
        expects_failure,
        /// Of an internal error for an odd value: whether the call with plain arguments succeeds.
        plain_succeeds,
        /// Of a template: whether reading one value returned the contents of another one that was read before, twice in a row.
        stale,
        /// Of a template: whether its variable has a value that the server offers as a completion, and others of those can be read.
        offered,
        /// Of a prompt that repeats plain text: the text that it lost, in any of the usual ways to escape it.
        lost,
    }
    /// `inside` of a generated call.
    INSIDE "a call next to the bound" {
        /// How it ended.
        end,
        /// Whether it is an error, or a result with `isError`.
        failed,
        /// The value next to the bound.
        value,
    }
    /// `$growth[*]`: how the process of the server grew with the number of calls.
    GROWTH "the growth of a process" {
        /// `memory` in bytes, or open `files`.
        of,
        /// The first and the last value after the start.
        first,
        /// The last one.
        last,
        /// How many calls were made in between.
        calls,
        /// The values in between.
        curve: list,
        /// Whether it grew all the time.
        grows,
        /// What is measured, for a report.
        name,
    }
    /// `$sequences[*]`: calls that belong together, with what one of them returned as the argument of another.
    SEQUENCE "a sequence of calls" {
        /// `deleted`, `created`, `created together`, `created together, read`, `updated`, `created, read`, `read`, `listed`, `updated, read`, `deleted, read`, `failed`, `many`, `cancelled`.
        kind,
        /// The tools that were called, in order.
        name,
        /// Whether what should hold was found.
        holds,
        /// What was received.
        received,
        /// The calls, each with `name`, `arguments` and how it ended.
        calls: list,
        /// The numbers of their frames.
        frames: list,
    }
}
