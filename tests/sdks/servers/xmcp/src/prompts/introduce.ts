import { completable, type InferSchema, type PromptMetadata } from "xmcp";
import { z } from "zod";

const NAMES = ["Ada", "Alan", "Barbara", "Grace"];

export const schema = {
  name: completable(z.string().describe("Who"), (value: string) => NAMES.filter(name => name.startsWith(value)))
};
export const metadata: PromptMetadata = { name: "introduce", title: "Introduce", description: "Introduce somebody", role: "user" };

export default function introduce({ name }: InferSchema<typeof schema>) {
  return `Introduce ${name} in one sentence.`;
}
