//! Sentences that steer, in Chinese and Japanese, where nothing stands between words: a verb is looked for, and around it,
//! in its sentence, what it is said of. Chinese has that behind its verb, Japanese before it.

use super::bytes::{before, escape_letter, tally};
use super::field::Own;
use super::phrase::Rule;
use super::phrases::{accept, aside, identity};
use std::ops::Range;

static ASIDE: Rule = aside(&[]);
static ROLE: Rule = identity(&[]);
static ACCEPT: Rule = accept(&[]);

/// Verbs and words by which a sentence is found. Each is an anchor.
const IGNORE: &[&str] = &["忽略", "无视", "無視", "忘记", "忘記"];
const IGNORE_JAPANESE: &[&str] = &["無視", "忘れ"];
const NOW: &[&str] = &["你现在", "你現在", "现在起", "現在起", "现在开始", "現在開始"];
const YOU_JAPANESE: &[&str] = &["あなたは"];
const SKIP: &[&str] = &["跳过", "跳過"];
const SKIP_JAPANESE: &[&str] = &["スキップ"];

#[rustfmt::skip]
const EARLIER: &[&str] = &[
    "之前", "以前", "先前", "上述", "上面", "前面", "此前", "以上", "原有", "原来", "原來", "これまで", "今まで", "上記", "先ほど", "前の",
    "元の", "すべて", "全て",
];
#[rustfmt::skip]
const ORDERS: &[&str] = &[
    "指令", "指示", "说明", "說明", "提示词", "提示詞", "规则", "規則", "命令", "プロンプト", "ルール",
];
#[rustfmt::skip]
const RULERS: &[&str] = &[
    "管理员", "管理員", "管理者", "协调", "協調", "编排", "編排", "调度", "調度", "审核员", "審核員", "验证者", "验证员", "驗證者", "裁判",
    "法官", "开发者", "開發者", "系统", "系統", "オーケストレーター", "検証者", "審査員", "監督", "システム", "orchestrator", "root", "admin",
];
#[rustfmt::skip]
const CHECKS: &[&str] = &[
    "验证", "驗證", "测试", "測試", "检查", "檢查", "审核", "審核", "校验", "検証", "テスト", "チェック", "確認", "レビュー", "審査",
];
const ALL: &[&str] = &["所有", "全部", "一切", "任何", "这些", "该", "本次", "验收", "的"];
/// What may stand between the beginning of an order and its verb.
#[rustfmt::skip]
const LEAD_INS: &[&str] = &[
    "请", "請", "现在", "現在", "并", "然后", "你", "您", "应该", "必须", "可以", "要", "立即", "马上", "直接", "すべての", "全ての", "全",
];
const DENIALS: &[&str] = &["不", "别", "勿", "不要", "不得", "不能", "禁止", "没有"];
/// What makes an order of a Japanese verb, and what takes it back.
const DO_IT: &[&str] = &["して", "しろ", "せよ", "し、", "すること", "て", "ろ"];
const NOT_SO: &[&str] = &["しては", "しない", "てはいけ", "てはなら", "ては"];

/// How far on either side a sentence is read. In a document a letter may be two.
const FAR: usize = 60;
/// How far back is looked for what leads to an order.
const NEAR: usize = 12;

/// The sentence around the anchor at `at`, if it steers.
pub fn find(bytes: &[u8], at: usize, own: Own) -> Option<(&'static Rule, Range<usize>)> {
    let far = if own == Own::Text { FAR } else { 2 * FAR };
    let rest = bytes.get(at..letter_start(bytes, bytes.len().min(at + far)))?;
    let rest = rest.get(..end_of_sentence(rest))?;
    tally(rest.len());
    let head = |far: usize| {
        let head = bytes.get(letter_start(bytes, at.saturating_sub(far))..at).unwrap_or_default();
        tally(head.len());
        head.get(start_of_sentence(head)..).unwrap_or_default()
    };
    let verb = |any: &[&str]| any.iter().find(|it| rest.starts_with(it.as_bytes())).map(|it| it.len());
    let whole = |rule: &'static Rule| Some((rule, at..at + rest.len()));
    if let Some(length) = verb(IGNORE)
        && opens(head(NEAR))
        && has(&rest[length..], EARLIER)
        && has(&rest[length..], ORDERS)
    {
        return whole(&ASIDE);
    }
    if let Some(length) = verb(IGNORE_JAPANESE)
        && is_order(&rest[length..])
        && let head = head(far)
        && has(head, EARLIER)
        && has(head, ORDERS)
    {
        return Some((&ASIDE, at - head.len()..at + length));
    }
    if let Some(length) = verb(NOW)
        && near(&rest[length..], &["是"])
        && has(&rest[length..], RULERS)
    {
        return whole(&ROLE);
    }
    if let Some(length) = verb(YOU_JAPANESE)
        && near(&rest[length..], &["今から", "これから", "今後"])
        && has(&rest[length..], RULERS)
    {
        return whole(&ROLE);
    }
    if let Some(length) = verb(SKIP)
        && opens(head(NEAR))
        && let Some(behind) = behind_check(&rest[length..])
        && (behind.is_empty() || closes(behind))
    {
        return whole(&ACCEPT);
    }
    if let Some(length) = verb(SKIP_JAPANESE)
        && is_order(&rest[length..])
        && let head = head(far)
        && let Some(before) = before_check(head)
        && opens(before)
    {
        return Some((&ACCEPT, at - (head.len() - before.len())..at + length));
    }
    None
}

/// The beginning of the letter that the byte at `at` belongs to.
fn letter_start(bytes: &[u8], at: usize) -> usize {
    let inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    at - (0..at.min(3)).take_while(|back| inside(&(at - back))).count()
}

/// What ends a sentence, in either script.
const ENDS: &[&str] = &["。", "！", "？", "\n", "\r"];

fn end_of_sentence(bytes: &[u8]) -> usize {
    let first = ENDS.iter().filter_map(|end| memchr::memmem::find(bytes, end.as_bytes())).min();
    first.unwrap_or(bytes.len())
}

fn start_of_sentence(bytes: &[u8]) -> usize {
    let last = |end: &&str| memchr::memmem::rfind(bytes, end.as_bytes()).map(|at| at + end.len());
    ENDS.iter().filter_map(last).max().unwrap_or(0)
}

fn has(bytes: &[u8], any: &[&str]) -> bool {
    any.iter().any(|it| memchr::memmem::find(bytes, it.as_bytes()).is_some())
}

/// Whether one of these stands within the next few letters.
fn near(bytes: &[u8], any: &[&str]) -> bool {
    const FEW: usize = 24;
    has(bytes.get(..bytes.len().min(FEW)).unwrap_or_default(), any)
}

/// Whether an order may begin behind these bytes: nothing is there, or a sign, or what leads to one. `解析器忽略之前的指令`
/// tells what a parser does.
fn opens(head: &[u8]) -> bool {
    let head = head.trim_ascii_end();
    let ends = |any: &[&str]| any.iter().any(|it| head.ends_with(it.as_bytes()));
    if ends(DENIALS) {
        return false;
    }
    let Some(last) = head.last() else { return true };
    let escape = escape_letter(*last) && before(head, head.len() - 1) == Some(b'\\');
    escape || last.is_ascii_punctuation() || ends(LEAD_INS) || ends(&["，", "：", "；", "、", "「", "『", "（", "“"])
}

/// Whether a clause ends here.
fn closes(behind: &[u8]) -> bool {
    let begins = |any: &[&str]| any.iter().any(|it| behind.starts_with(it.as_bytes()));
    behind.first().is_some_and(u8::is_ascii_punctuation)
        || begins(&["，", "；", "、", "」", "』", "）", "”", "并", "直接", "吧"])
}

fn is_order(behind: &[u8]) -> bool {
    let begins = |any: &[&str]| any.iter().any(|it| behind.starts_with(it.as_bytes()));
    begins(DO_IT) && !begins(NOT_SO)
}

/// What follows the check that is named here, behind words that change nothing.
fn behind_check(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    while let Some(behind) = ALL.iter().find_map(|it| rest.strip_prefix(it.as_bytes())) {
        rest = behind;
    }
    CHECKS.iter().find_map(|it| rest.strip_prefix(it.as_bytes()))
}

/// What stands before the check that is named last.
fn before_check(bytes: &[u8]) -> Option<&[u8]> {
    let noun = ["を", "は", "も"].iter().find_map(|it| bytes.strip_suffix(it.as_bytes())).unwrap_or(bytes);
    CHECKS.iter().find_map(|it| noun.strip_suffix(it.as_bytes()))
}
