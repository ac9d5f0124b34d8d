// Opens an HTML report, or the page of a matrix, in a real browser, as its reader does: looks, filters, sorts, unfolds, on a
// telephone too, and with scripts off. Usage: node browser.mjs REPORT.html
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

async function report() {
  const { page, asked } = await open({ viewport: { width: 1200, height: 900 } });
  const rows = page.locator("tr[data-status]:visible");
  const all = await rows.count();
  const failing = page.locator("details.rule.fail").first();
  const id = await failing.locator(":scope > summary > code").first().innerText();
  assert.match(await page.locator("h1").innerText(), /does not conform/);

  const began = Date.now();
  await page.fill("input[name=text]", id);
  const found = await rows.count();
  console.log(`filtered ${all} rules to ${found} in ${Date.now() - began} ms`);
  assert.ok(found >= 1 && found < all);
  assert.ok(await failing.isVisible());
  assert.equal(await page.locator("details.rule:visible", { hasText: id }).count() > 0, true);

  assert.match(await page.locator("#shown").innerText(), new RegExp(`^${found} of \\d+ results`));
  assert.equal(await page.locator("section.rules:visible").evaluateAll((all) => all.filter((each) => each.offsetHeight < 60).length), 0,
    "a heading without rules is hidden");

  await page.fill("input[name=text]", "");
  assert.equal(await page.locator("#shown").innerText(), "");
  await page.selectOption("select[name=status]", "fail");
  const failed = await rows.count();
  assert.equal(failed, await page.locator("tr[data-status=fail]").count());
  await page.selectOption("select[name=status]", "");
  assert.equal(await rows.count(), all);

  assert.match(await page.locator("header time").innerText(), /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  const warning = page.locator("details.rule:not([open]) > summary > span.brief").first();
  if (await warning.count() > 0) assert.ok(await warning.isVisible(), "a folded rule shows its finding");
  assert.ok(!(await page.locator("details.rule[open] > summary > .brief").first().isVisible()), "an open one only once");

  await page.fill("input[name=text]", "no such rule");
  await page.locator(".counts .fail a").press("Enter");
  assert.ok(await failing.isVisible(), "a count shows its rules, whatever was filtered");
  await page.waitForFunction(() => document.querySelector("#status-fail").getBoundingClientRect().top < 200);
  const folded = page.locator("details[data-folded]").first();
  if (await folded.count() > 0) {
    await page.locator(`.counts a[href="#${await folded.getAttribute("id")}"]`).click();
    assert.ok(await folded.evaluate((element) => element.open), "a count unfolds its rules");
  }

  const rows_of_messages = page.locator(".messages tbody tr");
  if (await rows_of_messages.count() > 0) await messages(page, rows_of_messages);

  const last = page.locator("details.rule").last();
  const unfolded = !(await last.evaluate((element) => element.open));
  await last.locator("summary").first().press("Enter");
  assert.equal(await last.evaluate((element) => element.open), unfolded, "the keyboard folds and unfolds");

  await reached(page, asked);
}

/** The table of messages: each opens in place, and the key for the filter does not lead away from it. */
async function messages(page, rows) {
  const link = page.locator(".finding pre a[href^='#frame-']").first();
  await link.evaluate((element) => { for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true; });
  const target = page.locator(await link.getAttribute("href"));
  await link.click();
  assert.ok(await target.isVisible(), "a finding leads to its message");
  const body = target.locator("pre");
  if (await body.count() > 0) {
    assert.ok(await body.isVisible(), "which is open");
    await target.locator("summary").press("Enter");
    assert.ok(!(await body.isVisible()), "the keyboard closes it");
  }
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const broken = await page.evaluate(() => [...document.querySelectorAll(".messages th, .messages td.number")].filter((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return cell.offsetParent && new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1;
    }).map((cell) => cell.textContent));
    assert.deepEqual(broken, [], `heads and numbers are on one line at ${width} pixels`);
  }
  // So low that the messages, which come last, fill it.
  await page.setViewportSize({ width: 1200, height: 250 });
  await page.locator("#messages h2").click();
  await page.locator("#messages").evaluate((element) => element.scrollIntoView());
  const before = await page.evaluate(() => scrollY);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "text");
  assert.equal(await page.evaluate(() => scrollY), before, "the filter is in sight already");
  const word = (await rows.first().locator("td.mono").innerText()).split(/\s/)[0].toLowerCase();
  await page.keyboard.type(word);
  assert.ok(await rows.first().isVisible());
  const visible = page.locator(".messages tbody tr:visible");
  assert.ok((await visible.allTextContents()).every((text) => text.toLowerCase().includes(word)), "messages are filtered too");
  assert.match(await page.locator("#shown").innerText(), / of \d+ messages$/);
  const seen = await page.locator("#messages").evaluate((element) => element.getBoundingClientRect());
  assert.ok(seen.bottom > 0 && seen.top < 250, "the messages stay in sight");
  await page.fill("input[name=text]", "");
  await page.setViewportSize({ width: 1200, height: 900 });
}

async function matrix() {
  const { page, asked } = await open({ viewport: { width: 1200, height: 900 } });
  const rows = page.locator(".matrix tbody tr:visible");
  const names = () => page.locator(".matrix tbody tr:visible th").allInnerTexts();
  const all = await names();
  assert.deepEqual(all.toSorted(), ["conforming", "hostile", "large", "sample"]);

  await page.selectOption("select[name=standing]", "conforms");
  assert.deepEqual(await names(), ["conforming"]);
  await page.selectOption("select[name=standing]", "");
  await page.fill("input[name=text]", "large");
  assert.deepEqual(await names(), ["large"]);
  assert.equal(await page.locator("details[data-server]:visible").count(), 1, "the filter holds for what is told below");
  assert.equal(await page.locator("#shown").innerText(), "1 of 4 servers");
  await page.fill("input[name=text]", "");
  assert.equal(await rows.count(), all.length);

  const heading = (text) => page.locator(".matrix thead button", { hasText: text }).first();
  await heading("server").click();
  assert.deepEqual(await names(), all.toSorted());
  await heading("server").press("Enter");
  assert.deepEqual(await names(), all.toSorted().toReversed());
  await heading("failed").click();
  assert.deepEqual([(await names())[0], (await names()).at(-1)], ["large", "conforming"], "the worst come first");
  assert.equal(await page.locator("[aria-sort]").count(), 1);

  const common = page.locator("details.rule:not([data-server])").first();
  assert.match(await common.locator("summary span.brief").innerText(), /large|sample|hostile/, "a rule names its servers");
  assert.equal((await page.locator("details.rule > summary").allInnerTexts()).filter((text) => text.includes("`")).length, 0);

  await page.locator(".matrix tbody a", { hasText: "hostile" }).click();
  const told = page.locator("details[data-server]", { hasText: "hostile" }).first();
  assert.ok(await told.evaluate((element) => element.open), "a server leads to what does not hold there");
  assert.ok(await told.locator(".finding").first().isVisible());
  await told.locator("summary").first().press("Enter");
  assert.ok(!(await told.evaluate((element) => element.open)), "the keyboard folds");
  await reached(page, asked);
}

/** The key that leads to the filter, and that nothing came from elsewhere. */
async function reached(page, asked) {
  await page.locator("h1").click();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "text");
  assert.deepEqual(new Set(asked.map((each) => each.split("#")[0])), new Set([url]), "nothing else is loaded");
}

await (url.endsWith("/matrix.html") ? matrix() : report());
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
