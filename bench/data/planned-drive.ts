/**
 * The drive of W1 with parts for plans: two users with roles on 10,000 reports each, articles with 20 rules
 * on columns, and 100,000 sheets with a stored title and one rule.
 */
import type { Change } from '#model/change.ts'
import { assign, conditionSet, instance, resourceType, role, user } from '#testing/engines/changes.ts'
import { Drive } from './drive.ts'

export const PLANNERS = ['planner-a', 'planner-b'] as const
export const REPORTS_PER_PLANNER = 10_000
export const ARTICLE_RULES = 20
export const SHEETS = 100_000
/** One of this many sheets has a title that the rule allows. */
export const SHEET_STRIDE = 50
const TITLE_PART = 'annual'

export function reportKeys(planner: number): string[] {
  return Array.from({ length: REPORTS_PER_PLANNER }, (_, index) => `report-${planner}-${index}`)
}

export function sheetKeys(): string[] {
  return Array.from({ length: SHEETS / SHEET_STRIDE }, (_, index) => `sheet-${index * SHEET_STRIDE}`)
}

/** The column that the rule of this number tests, and the value that it allows. */
export function articleTest(index: number): { readonly column: string; readonly value: string } {
  return { column: `state_${String(index).padStart(2, '0')}`, value: `value-${index}` }
}

function* ruleOn(type: string, set: string, conditions: object): Iterable<Change> {
  yield conditionSet(set, conditions, { side: 'resource', type })
  yield { kind: 'rule-put', userSet: 'planners', type, action: 'read', resourceSet: set }
}

export class PlannedDrive extends Drive {
  override *things(): Iterable<Change> {
    yield* super.things()
    yield* [resourceType('report', 'read'), role('report', 'viewer', { can: ['read'] })]
    yield* [resourceType('article', 'read'), resourceType('sheet', 'read')]
    yield conditionSet('planners', { 'user.key': { match: 'planner-*' } })
    for (let index = 0; index < ARTICLE_RULES; index++) {
      const { column, value } = articleTest(index)
      yield* ruleOn('article', `articles-${index}`, { [`resource.${column}`]: { equals: value } })
    }
    yield* ruleOn('sheet', 'annual-sheets', { 'resource.title': { contains: TITLE_PART } })
    for (const planner of PLANNERS) yield user(planner)
    for (const planner of PLANNERS.keys()) {
      for (const key of reportKeys(planner)) yield instance(`report:${key}`)
    }
    for (let index = 0; index < SHEETS; index++) {
      const title = `${index % SHEET_STRIDE === 0 ? TITLE_PART : 'other'} sheet ${index}`
      yield { ...instance(`sheet:sheet-${index}`), attributes: { title } }
    }
  }

  override *facts(): Iterable<Change> {
    yield* super.facts()
    for (const [index, planner] of PLANNERS.entries()) {
      for (const key of reportKeys(index)) yield assign(planner, 'viewer', `report:${key}`)
    }
  }
}
