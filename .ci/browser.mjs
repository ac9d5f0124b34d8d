// Opens an HTML report in a real browser, as its reader does: looks, filters, unfolds, prints, on a telephone too, and with
// scripts off. Usage: node browser.mjs REPORT.html
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const url = pathToFileURL(process.argv[2]).href;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
});

async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("pageerror", (error) => assert.fail(`a script failed: ${error}`));
  page.on("dialog", () => assert.fail("text of a server ran"));
  await page.goto(url);
  return { page, asked };
}

{
  const { page, asked } = await open({ viewport: { width: 1200, height: 900 } });
  const rows = page.locator("tr[data-status]:visible");
  const all = await rows.count();
  const failing = page.locator("details.rule.fail").first();
  const id = await failing.locator("summary code").innerText();
  assert.match(await page.locator("h1").innerText(), /does not conform/);

  const began = Date.now();
  await page.fill("input[name=text]", id);
  const found = await rows.count();
  console.log(`filtered ${all} rules to ${found} in ${Date.now() - began} ms`);
  assert.ok(found >= 1 && found < all);
  assert.ok(await failing.isVisible());
  assert.equal(await page.locator("details.rule:visible", { hasText: id }).count() > 0, true);

  await page.fill("input[name=text]", "");
  await page.selectOption("select[name=status]", "fail");
  const failed = await rows.count();
  assert.equal(failed, await page.locator("tr[data-status=fail]").count());
  await page.selectOption("select[name=status]", "");
  assert.equal(await rows.count(), all);

  const last = page.locator("details.rule").last();
  const folded = !(await last.evaluate((element) => element.open));
  await last.locator("summary").first().press("Enter");
  assert.equal(await last.evaluate((element) => element.open), folded, "the keyboard folds and unfolds");

  await page.keyboard.press("Escape");
  await page.locator("h1").click();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "text");
  assert.deepEqual(asked, [url], "nothing else is loaded");
}
{
  const { page } = await open({ viewport: { width: 390, height: 800 }, colorScheme: "dark" });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${wide} pixels too wide for a telephone`);
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(dark, "rgb(255, 255, 255)");
}
{
  const { page } = await open({ javaScriptEnabled: false });
  assert.equal(await page.locator("form").isVisible(), false);
  assert.ok(await page.locator("details.rule.fail").first().isVisible());
}
await browser.close();
console.log("the browser shows what it should");
