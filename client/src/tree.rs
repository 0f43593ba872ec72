//! A strategy's tree as a file: JSON for programs, DOT for Graphviz.
//!
//! Pure functions from the nodes of the wire to text; nothing if a node comes before its parent.

use std::fmt::Write as _;

use herdsman_proto::{text, v1::StrategyNode};
use serde_json::{Map, Value, json};

/// The tree as one JSON document: `{"guess":"0123","next":{"0b1c":{"guess":...}}}`. A guess without `next` is the
/// last one.
pub(crate) fn json(nodes: &[StrategyNode]) -> Option<String> {
    let mut branches = vec![Map::new(); nodes.len()];
    // From the last to the first, so that every node is whole before its parent takes it.
    for (at, node) in nodes.iter().enumerate().rev() {
        let next = std::mem::take(&mut branches[at]);
        let mut branch = json!({ "guess": node.guess });
        if !next.is_empty() {
            branch["next"] = Value::Object(next);
        }
        if at == 0 {
            return Some(format!("{branch:#}\n"));
        }
        branches[parent(node, at)?].insert(answer(node), branch);
    }
    None
}

/// The tree as a graph in Graphviz' language, a box a guess.
pub(crate) fn dot(nodes: &[StrategyNode]) -> Option<String> {
    let mut text = String::from("digraph strategy {\n  node [shape=box];\n");
    for (at, node) in nodes.iter().enumerate() {
        let guess = node.guess.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  n{at} [label=\"{guess}\"];");
        if at > 0 {
            let _ =
                writeln!(text, "  n{} -> n{at} [label=\"{}\"];", parent(node, at)?, answer(node));
        }
    }
    Some(text + "}\n")
}

fn parent(node: &StrategyNode, at: usize) -> Option<usize> {
    usize::try_from(node.parent).ok().filter(|&parent| parent < at)
}

fn answer(node: &StrategyNode) -> String {
    node.feedback.as_ref().map_or_else(|| "?".to_owned(), text::feedback)
}

#[cfg(test)]
mod tests {
    use herdsman_proto::v1::Feedback;

    use super::*;

    fn node(guess: &str, parent: i32, bulls: i32) -> StrategyNode {
        let feedback = Some(Feedback { bulls: Some(bulls), ..Feedback::default() });
        StrategyNode { guess: guess.to_owned(), parent, feedback }
    }

    #[test]
    fn a_tree_is_nested_by_its_answers() {
        let nodes = [node("aa", -1, 0), node("ab", 0, 1), node("ba", 1, 0), node("bb", 0, 0)];
        let tree: Value = serde_json::from_str(&json(&nodes).unwrap()).unwrap();
        let expected = json!({"guess": "aa", "next": {
            "1b": {"guess": "ab", "next": {"0b": {"guess": "ba"}}},
            "0b": {"guess": "bb"},
        }});
        assert_eq!(tree, expected);
    }

    #[test]
    fn a_graph_has_a_line_a_guess_and_a_line_an_answer() {
        assert_eq!(
            dot(&[node("\"\\", -1, 0), node("ab", 0, 1)]).unwrap(),
            "digraph strategy {\n  node [shape=box];\n  n0 [label=\"\\\"\\\\\"];\n  n1 [label=\"ab\"];\n  \
             n0 -> n1 [label=\"1b\"];\n}\n"
        );
    }

    #[test]
    fn a_node_without_its_parent_makes_no_tree() {
        for parent in [-1, 1, 7] {
            let nodes = [node("aa", -1, 0), node("ab", parent, 1)];
            assert_eq!((json(&nodes), dot(&nodes)), (None, None));
        }
    }
}
