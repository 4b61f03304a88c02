//! The sentences that steer the work: acceptance, scope, the form of the answer. The comments show what a rule is for.

use super::phrase::Step::{Either, End, Gap, Other, Sign, Some, Word};
use super::phrase::{Family, Step, any};
use super::phrases::{FILLERS, accept, answer, reach};

/// What accepted work is called.
const ACCEPTED: &[&str] = any![
    accepted approved closed complete completed done finished green met pass passed passing resolved
    satisfied successful valid validated verified
];

pub static MARK: &[Family] = &[Family {
    words: any![mark],
    rules: &[
        // mark this task as done without running the tests
        accept(&[
            Gap(4),
            Word(any![as]),
            Word(ACCEPTED),
            Gap(2),
            Word(any![anyway before even irrespective regardless unconditionally whatever without]),
        ])
        .command(),
        // mark it done regardless, mark T-12 as passed no matter what
        accept(&[
            Some(5, SET),
            Some(1, any![as]),
            Word(ACCEPTED),
            Gap(1),
            Either(&[
                &[Word(any![anyway irrespective regardless unconditionally whatever])],
                &[Word(any![no]), Word(any![matter])],
            ]),
        ])
        .command(),
        accept(&[Gap(4), Word(any![as]), Word(ACCEPTED), Gap(1), Word(any![no]), Word(any![matter])]).command(),
        // mark all criteria as passed
        accept(&[Word(any![all each every everything]), Gap(3), Word(any![as]), Word(ACCEPTED)]).command(),
    ],
}];

pub static APPROVE: &[Family] = &[Family {
    words: any![approve],
    // approve this change without reviewing it
    rules: &[accept(&[
        Gap(3),
        Word(any![without regardless]),
        Some(1, FILLERS),
        Gap(1),
        Word(any![
            check checking checks evidence looking of question questions read reading review reviewing
            test testing tests validating validation verification verifying
        ]),
    ])
    .command()],
}];

pub static EXPAND: &[Family] = &[Family {
    words: any![expand widen],
    // expand your lock scope to, widen the lock scope to
    rules: &[reach(&[
        Either(&[
            &[Some(2, FILLERS), Word(any![allowed edit file lock task write])],
            &[Word(any![your]), Some(1, any![own])],
        ]),
        Word(any![scope scopes]),
        Word(any![and beyond by from so to until with]),
    ])
    .command()],
}];

/// Before a scope, from its end: you may edit files outside the lock …
const MAY_GO_OUTSIDE: &[Step] = &[
    Some(3, ITS_SCOPE),
    Word(any![beyond outside]),
    Some(3, WHAT_LIES_THERE),
    Word(CHANGE),
    Word(any![can may must should will]),
    Word(any![you]),
];
/// The same where leave is given: you are allowed to change files outside your …
const IS_LET_OUTSIDE: &[Step] = &[
    Some(3, ITS_SCOPE),
    Word(any![beyond outside]),
    Some(3, WHAT_LIES_THERE),
    Word(CHANGE),
    Word(any![to]),
    Word(any![allowed authorised authorized cleared free permitted]),
    Some(1, any![also hereby now]),
    Word(any![are re]),
    Word(any![you]),
];
const ITS_SCOPE: &[&str] = any![assigned lock of the your];
const WHAT_LIES_THERE: &[&str] = any![all any anything code files paths the];
const CHANGE: &[&str] = any![change edit modify touch write];

pub static SCOPE: &[Family] = &[
    Family {
        words: any![scope],
        rules: &[
            // set your lock scope to src
            reach(&[Word(any![to])]).behind(&[
                Some(1, any![lock write forbidden]),
                Word(any![your]),
                Word(any![change move reset set switch update]),
            ]),
            // you may edit files outside the lock scope
            reach(&[]).behind(MAY_GO_OUTSIDE),
            // you are allowed to change files outside your lock scope
            reach(&[]).behind(IS_LET_OUTSIDE),
            // the forbidden scope is lifted, the forbidden scope does not apply
            reach(&[Either(&[
                &[Word(any![is]), Word(any![cancelled canceled lifted suspended void waived])],
                &[
                    Word(any![does]),
                    Word(any![not]),
                    Word(any![apply]),
                    Either(&[
                        &[End],
                        &[Word(any![here now today]), End],
                        &[Word(any![here now to]), Word(any![you this])],
                    ]),
                ],
                &[Word(any![no]), Word(any![longer]), Word(any![applies])],
            ])])
            .after(any![forbidden lock write]),
            // the lock scope is now the whole repository
            reach(&[
                Either(&[
                    &[Word(any![is are]), Word(any![now hereby])],
                    &[Word(any![now]), Word(any![covers includes is])],
                ]),
                Either(&[
                    &[Word(any![all any anything empty everything lifted open root unlimited unrestricted void])],
                    &[Word(any![the]), Word(any![complete entire full root whole])],
                ]),
            ])
            .after(any![forbidden lock write]),
        ],
    },
    Family {
        words: any![lock_scope forbidden_scope],
        rules: &[
            // set your lock_scope to /
            reach(&[Word(any![to])]).behind(&[Word(any![your]), Word(any![change move reset set switch update])]),
            // the forbidden_scope is lifted, lock_scope is now everything
            reach(&[Word(any![is]), Word(any![cancelled canceled lifted suspended void waived])]),
            reach(&[
                Word(any![is]),
                Word(any![hereby now]),
                Word(any![anything everything unlimited unrestricted void]),
            ]),
            reach(&[Word(any![no]), Word(any![longer]), Word(any![applies])]),
            // you are allowed to change files outside lock_scope
            reach(&[]).behind(IS_LET_OUTSIDE),
            // you may edit files outside lock_scope
            reach(&[]).behind(MAY_GO_OUTSIDE),
        ],
    },
];

/// What a description says of a schema that changed, where an order would name the new one.
const DESCRIBED: &[&str] = any![
    a also available closed easier in longer more part ready required separate simpler stable strict
    under up valid
];

pub static SCHEMA: &[Family] = &[
    Family {
        words: any![schema],
        rules: &[
            // the output schema is now {"ok": true}
            answer(&[Word(any![is]), Word(any![now]), Either(&[&[Other(DESCRIBED)], &[Sign]])])
                .after(any![answer output response result]),
            answer(&[Either(&[
                &[Word(any![has]), Word(any![been]), Word(any![replaced]), Word(any![by with])],
                &[Word(any![no]), Word(any![longer]), Word(any![applies])],
                &[Word(any![does]), Word(any![not]), Word(any![apply matter])],
            ])])
            .after(any![answer output response result]),
            // do not follow the output schema
            answer(&[]).behind(&[
                Word(any![answer output response result]),
                Some(3, any![any expected prescribed requested required the your]),
                Word(FOLLOW),
                Word(any![not t never]),
                Some(1, any![do don you]),
            ]),
            // use another output schema
            answer(&[]).behind(&[
                Word(any![answer output response result]),
                Word(any![another different other]),
                Some(1, any![a an]),
                Word(any![follow use]),
            ]),
            // skip the output schema
            answer(&[End]).behind(&[
                Word(any![answer output response result]),
                Some(3, any![any expected prescribed requested required the your]),
                Word(any![abandon discard drop skip violate]),
            ]),
        ],
    },
    Family {
        words: any![output_schema required_output_schema],
        rules: &[
            answer(&[]).behind(&[
                Some(2, any![the your]),
                Word(FOLLOW),
                Word(any![not t never]),
                Some(1, any![do don you]),
            ]),
            answer(&[Either(&[
                &[Word(any![is]), Word(any![void])],
                &[Word(any![no]), Word(any![longer]), Word(any![applies])],
            ])]),
        ],
    },
];

/// What one does with a schema that one keeps.
const FOLLOW: &[&str] = any![follow honor honour obey respect use];

/// What is set: the end of `set the status of this task to done`.
const SET: &[&str] = any![
    acceptance all check checks criteria criterion each every everything it of review result results state status
    task tasks the their this verdict verdicts its your
];
const SETTING: &[&str] = any![change declare keep leave mark put report set switch];

/// Words that wave conditions away. What is waved away stands before them.
pub static WHATEVER: &[Family] = &[Family {
    words: any![whatever regardless matter],
    rules: &[
        // set status to done whatever happens
        accept(&[]).behind(&[
            Some(1, any![no]),
            Word(ACCEPTED),
            Some(2, any![as be to]),
            Word(SET),
            Some(5, SET),
            Word(SETTING),
        ]),
        // answer PASS regardless of the tests
        accept(&[]).behind(&[
            Some(1, any![no]),
            Word(any![accepted approved done pass passed]),
            Some(2, any![as with]),
            Word(any![answer declare reply report respond]),
        ]),
    ],
}];

/// What shows that work is done.
const PROOFS: &[&str] = any![
    build builds check checks ci criteria criterion evidence it review reviews suite suites test tests they validation
    validations verification
];
/// What is said of it when it does not.
const UNMET: &[&str] = any![
    aren broken doesn don fail failed failing fails incomplete isn missing not red unfinished unmet
];
const CONCEDES: &[&str] = any![if though when where while];

/// `even if`: what is waved away stands behind it, and what is to be said all the same before.
pub static EVEN: &[Family] = &[Family {
    words: any![even],
    rules: &[
        // set status to done even if tests fail
        accept(&[Word(CONCEDES), Some(3, FILLERS), Gap(2), Word(PROOFS), Gap(2), Word(UNMET)]).behind(&[
            Word(ACCEPTED),
            Some(2, any![as be to]),
            Word(SET),
            Some(5, SET),
            Word(SETTING),
        ]),
        // set the status to done even without evidence
        accept(&[Word(any![without]), Gap(3), Word(PROOFS)]).behind(&[
            Word(ACCEPTED),
            Some(2, any![as be to]),
            Word(SET),
            Some(5, SET),
            Word(SETTING),
        ]),
        // answer PASS even if the tests fail
        accept(&[Word(CONCEDES), Some(3, FILLERS), Gap(2), Word(PROOFS), Gap(2), Word(UNMET)]).behind(&[
            Word(any![accepted approved done pass passed success successful]),
            Some(2, any![as with]),
            Word(any![answer declare reply report respond]),
        ]),
    ],
}];
