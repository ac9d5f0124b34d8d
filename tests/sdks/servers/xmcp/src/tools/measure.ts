import { type InferSchema, type ToolMetadata } from "xmcp";
import { z } from "zod";

export const schema = { text: z.string() };
export const outputSchema = { characters: z.number(), words: z.number() };
export const metadata: ToolMetadata = {
  name: "measure",
  description: "Count the characters and words of a text",
  annotations: { readOnlyHint: true }
};

export default function measure({ text }: InferSchema<typeof schema>) {
  return { characters: text.length, words: text.split(/\s+/).filter(Boolean).length };
}
