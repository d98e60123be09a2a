/**
 * Rules of the language check. Each finds wording that is hard to understand for readers whose first language
 * is not English, and advises a plain one (CONTRIBUTING.md). The patterns are heuristics.
 */
import type { PassageKind } from './passages.ts'

/** Matches the start of a passage or of a clause. */
const START = String.raw`(?:^|(?<=[.!?:;] ))`
const UNIT_NOUNS =
  'environment|fact|thread|core|change|line|page|node|file|row|owner|record|question|key|type|resource|role|event|check|' +
  'slab|list|commit|user|message|setting|kind|noun|partition|entry|batch|bulk|instance|tenant|group'
const SUBJECT_TYPES = 'feat|fix|docs|test|refactor|perf|build|chore|revert'
/** Start of a commit subject. */
export const SUBJECT_PREFIX = String.raw`(?:${SUBJECT_TYPES})(?:\([^()]+\))?!?: `

export interface Rule {
  readonly name: string
  /** The wording to use instead. */
  readonly advice: string
  /**
   * Kinds of text to which the rule applies. If absent, the rule applies to all kinds except whole commit
   * subjects.
   */
  readonly kinds?: readonly PassageKind[]
  /** Global regular expressions. Each match is a finding, unless it is within a question. */
  readonly patterns: readonly RegExp[]
}

const TEXTS: readonly PassageKind[] = ['text', 'heading', 'console', 'test']

const except = (...kinds: readonly PassageKind[]) => TEXTS.filter(kind => !kinds.includes(kind))

export const RULES: readonly Rule[] = [
  {
    name: 'clause-as-subject',
    advice: 'name the subject: "a client that …", "requests that …"',
    kinds: except('heading'),
    patterns: [
      new RegExp(`${START}(?:Who|Whoever|Whichever|Whatever) [a-z]\\w*`, 'g'),
      /(?<=; )who [a-z]\w*|(?<=[;:] )(?:whoever|whatever) [a-z]\w*/g,
      /(?<=[.!?] )What (?!if\b|about\b|to\b|follows:)[a-z`]\S*/g,
    ],
  },
  {
    name: 'what-for-a-noun',
    advice: 'begin with the noun: "Result of …", "Requests that …", "Fields of …"',
    kinds: except('heading', 'console'),
    patterns: [/^What (?!if\b|about\b|to\b|follows:|[^.,;]{0,40}:(?: |$))[a-z`]\S*/g],
  },
  {
    name: 'bare-who',
    advice: 'put a noun before "who": "by the first caller that …"',
    patterns: [/\b(?:by|to|for|from|with|of|unless|because|since|behind|beside|than|when|if) who\b/g],
  },
  {
    name: 'indefinite-person',
    advice: 'name the role: client, caller, operator, user, thread, node',
    patterns: [/\b(?:nobody|somebody|whoever|everybody|anybody)\b/gi],
  },
  {
    name: 'fronted-of',
    advice: 'put the subject first; "for X", "in X"',
    patterns: [new RegExp(`${START}Of (?!course\\b|these\\b|\\d)\\S+`, 'g')],
  },
  {
    name: 'told',
    advice: 'is reported, is logged, is returned, receives',
    patterns: [
      /\b(?:tells?|told|telling) of\b/g,
      /\b(?:is|are|was|were|be|been) told\b(?! apart| otherwise| to (?!nobody)\w+| where to)/g,
      /\btold to (?:nobody|anybody)\b/g,
    ],
  },
  {
    name: 'said',
    advice: 'is documented, is reported, is shown, is specified',
    patterns: [/\b(?:is|are|was|were|be|been) said\b(?! to )/g, /\bsaid (?:of|beside)\b/g],
  },
  {
    name: 'heard',
    advice: 'receives, learns of, is notified of',
    patterns: [/(?<!those who )\bhears?\b(?! (?:it|the page)\b)/g, /\bheard\b/g],
  },
  {
    name: 'asked',
    advice: 'is evaluated, is checked, is queried',
    patterns: [
      /\basked of\b/g,
      /\b(?:roles?|rules?|conditions?|sets?) (?:is|are|was|were) asked\b/g,
      /\basks? rules\b/g,
    ],
  },
  {
    name: 'looked-at',
    advice: 'is examined, is checked, is read',
    patterns: [/\b(?:is|are|was|were|be|been) looked (?:at|for)\b/g],
  },
  {
    name: 'stands',
    advice: 'is in, is listed in, appears, is stored',
    patterns: [
      /\b(?:stands?|stood) (?:in(?! for)|at|on|beside|behind|there|below|above|under|alone|before|further|as (?:it|they)|where)\b/g,
      /\bwhere (?:it|they|one) stands?\b/g,
    ],
  },
  {
    name: 'lies',
    advice: 'is, is stored, is located',
    patterns: [
      /\b(?:lies?|lay) (?:in|at|on|there|ahead|beside|behind|together|inline|where|beneath|under|below)\b/g,
    ],
  },
  {
    name: 'is-there',
    advice: 'exists, is present; "when the response arrives"',
    patterns: [
      /\b(?:is|are|was|were) (?:not |only |still |already )?there\b(?! (?:a|an|any|no|is|are|enough|something|anything|nothing)\b)/g,
    ],
  },
  {
    name: 'is-no',
    advice: '"is not a", "is not valid"',
    patterns: [
      /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer|more|less|later|one\b|need|doubt|different|better|worse|greater|fewer|larger|smaller|slower|faster|secret|match)\w+/g,
      /(?<!\b[Tt]here )\b(?:is|are|was|were) none\b(?! of (?:them|these))/g,
    ],
  },
  {
    name: 'goes-on',
    advice: 'continues, keeps, resumes',
    patterns: [
      /\b(?:go|goes|went|gone) on\b(?! (?:top|call|the|an?|each|every|its|their|this|that|disk|stdin)\b)/g,
    ],
  },
  {
    name: 'behind',
    advice: 'after, following',
    patterns: [
      /\b(?:comes?|came|goes|go|gone|runs?|ran|purged|removed|sent|put|pipelined|built|follows?|found|written|begins?) (?:right |directly )?behind (?!(?:[a-z-]+ ){0,3}(?:balancer|prox(?:y|ies)|gateway|ingress|firewall|HAProxy|nginx)s?\b)\w+/gi,
      /(?<!\b(?:lag\w*|fall\w*|fell|far|be|is|are|was|were|commits?|revisions?|seconds?|bytes|\d+ \w+) )\bbehind (?:that|them|the (?:wait|commit|last|first|one|change|oldest|newest|next|previous|number|question|keys?|items?|answer|name|head|words|place))\b/g,
    ],
  },
  {
    name: 'beside',
    advice: 'in addition to, alongside, next to, with',
    patterns: [/\bbeside\b/gi, /\bbesides\b(?=[,.;:)]|$)/g],
  },
  {
    name: 'along',
    advice: 'include, also delete, carry, come with',
    patterns: [
      /\b(?:takes?|taking|took|taken|brings?|bringing|brought|comes?|came|coming|goes|go|going|went|sent|sends?) (?:(?!the\b)[\w`'-]+ ){0,4}?along\b(?! (?:the|a|an|with|its|their|which|that|relations?|paths?)\b)/g,
    ],
  },
  {
    name: 'too',
    advice: '"also", before the verb',
    patterns: [/, too\b(?! (?:many|much|few|long|large|old|small|slow|late|early|short))/g],
  },
  {
    name: 'of-its-own',
    advice: '"its own X", "a separate X"',
    patterns: [/\bof (?:its|their|one's|his|her) own\b(?! accord)/g],
  },
  { name: 'anew', advice: 'again, from scratch; reload, rebuild', patterns: [/\banew\b/gi] },
  {
    name: 'meanwhile',
    advice: 'in the meantime, concurrently, since then',
    patterns: [/(?<!^)(?<![.!?:;] )\bmeanwhile\b/g],
  },
  {
    name: 'else',
    advice: 'otherwise',
    kinds: except('heading', 'test'),
    patterns: [/(?:^|(?<=[.!?] ))Else (?!if\b)\w+/g, /[,;] else\b(?! if)/g],
  },
  {
    name: 'also-where',
    advice: 'even where, even if, including',
    patterns: [/\balso (?:where|when|after|if|while|those)\b/g, /, also (?:of|from|by|to|for|as|at)\b/g],
  },
  { name: 'but-for', advice: 'except, except for', patterns: [/\bbut for\b/g] },
  {
    name: 'a-for-per',
    advice: 'per',
    patterns: [
      new RegExp(`\\b\\d[\\d.,]*(?: to \\d[\\d.,]*)? (?:[a-z]+s|[KMG]i?B) an? (?:${UNIT_NOUNS})\\b`, 'g'),
      new RegExp(
        `\\b(?:(?<!\\b(?:[Tt]h(?:e|is|at)|first|last|next|other|second|which|only|no) )[Oo]ne|(?:^|(?<=[:,;(] ))[Aa]n?) (?!(?:[a-z]*(?:[^s]s|ed|ing)|of|when|in|for|to|as|by|is|on|if|with|from|that|than|or|and|at|into|has|gets|before|after|until|since|over|per|under|without)\\b)[a-z]+ an? (?:${UNIT_NOUNS})\\b(?! (?:has|holds|is|may|can|does|must|names|belongs|gets)\\b)`,
        'g',
      ),
    ],
  },
  { name: 'dear', advice: 'expensive', patterns: [/\bdear(?:er|est)?\b/gi] },
  { name: 'mend', advice: 'repair, fix', patterns: [/\bmend(?:s|ed|ing)?\b/gi] },
  { name: 'in-turns', advice: 'alternately, interleaved, round-robin', patterns: [/\bin turns\b/g] },
  {
    name: 'one-does',
    advice: '"you", or the role',
    patterns: [
      /\b(?:while|where|what|as|before|which|far as) one (?:types?|signs?|knows?|sees?|feels?|goes|is in|comes in)\b/gi,
      /\bOne (?:signs|types|comes)\b/g,
    ],
  },
  {
    name: 'odd-phrase',
    advice: 'see the word list',
    patterns: [
      /\b(?:as ever|at the most|to be had|in the midst of|amid|speaks? against|by a slip|comes? upon|trouble of ours)\b/gi,
    ],
  },
  {
    name: 'subject-form',
    advice: `"type(scope): verb + object", with a type of ${SUBJECT_TYPES}`,
    kinds: ['subject'],
    patterns: [new RegExp(`^(?!${SUBJECT_PREFIX}\\S).*`, 'g')],
  },
  { name: 'subject-length', advice: 'at most 72 characters', kinds: ['subject'], patterns: [/^.{73,}$/g] },
  {
    name: 'subject-mood',
    advice: 'start with an imperative verb: "report", "reject", "show"',
    kinds: ['subject'],
    patterns: [
      new RegExp(
        `(?<=^${SUBJECT_PREFIX})(?:an?|the|what|who|whoever|nobody|somebody|no(?! longer)|one|each|every|all|some|of|in|on|where|while|when|that|which|is|are|it|its|this|these|those|more|less|most|without|with|for|from|by|as|how|until|two|three|(?:tests|files|keys|rules|facts|roles|lists|nodes|figures|results|comments)|(?:add|fix|remov|updat|chang|renam|show|us)(?:s|es|ed|ing)|\\S+s of|\\S+ (?:is|are|has|have|may))(?![\\w-]).*`,
        'g',
      ),
    ],
  },
]

export function appliesTo({ kinds = TEXTS }: Rule, kind: PassageKind): boolean {
  return kinds.includes(kind)
}
